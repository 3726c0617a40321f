/**
 * Encodes which events of a stretch of the log were returned, in few enough numbers for a cursor.
 *
 * The events, in order of time, are grouped by whole milliseconds, and the marks of each group are summed. An event that comes
 * late changes the sum of its group; all of that group then counts as unseen.
 */
export type Mark = {
  readonly at: number;
  /** An integer below `markMax` that tells events apart. */
  readonly mark: number;
};

export type Seen = readonly Group[];

type Group = { readonly from: number; readonly upTo: number; readonly sum: number };

export const markMax = 2 ** 40;
const groupsMax = 24;

/** `marks` must be in the order of time. */
export function seenOf(marks: readonly Mark[]): Seen {
  const size = Math.ceil(marks.length / groupsMax);
  const groups: Group[] = [];
  let begin = 0;
  for (let end = 1; end <= marks.length; end++) {
    const last = marks[end - 1];
    const isWhole = last?.at !== marks[end]?.at;
    if (!last || !isWhole || (end - begin < size && end < marks.length)) continue;
    const group = marks.slice(begin, end);
    groups.push({ from: group[0]?.at ?? last.at, upTo: last.at, sum: sumOf(group) });
    begin = end;
  }
  return groups;
}

/** Returns the marks that belong to no group, or to one whose sum has changed. */
export function unseen<M extends Mark>(marks: readonly M[], seen: Seen): readonly M[] {
  const seenAlready = new Set<M>();
  for (const { from, upTo, sum } of seen) {
    const group = marks.filter(({ at }) => at >= from && at <= upTo);
    if (sumOf(group) === sum) for (const mark of group) seenAlready.add(mark);
  }
  return marks.filter((mark) => !seenAlready.has(mark));
}

const sumOf = (marks: readonly Mark[]): number =>
  marks.reduce((sum, { mark }) => (sum + mark) % markMax, 0);

export const seenText = (seen: Seen, since: number): string =>
  seen
    .map(({ from, upTo, sum }) => [from - since, upTo - from, sum])
    .map((numbers) => numbers.map((number) => number.toString(36)).join("."))
    .join(",");

export function seenFrom(text: string, since: number): Seen {
  if (text === "") return [];
  return text.split(",").map((group) => {
    const [offset = 0, length = 0, sum = 0] = group.split(".").map((text) => parseInt(text, 36));
    return { from: since + offset, upTo: since + offset + length, sum };
  });
}
