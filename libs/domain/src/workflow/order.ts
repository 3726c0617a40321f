/**
 * The history of a run: its entries, in the order in which they were accepted (docs/design/runs#history). Run-length
 * coded: ten thousand steps in sequence are one span. Rank 0 is the start; the spans follow.
 */
type StepRole = "plan" | "result";
/**
 * The start; `adopted`, when the start is delivered again after its endpoint has said which protocol it speaks; or a
 * step: the plan of a member of a parallel group, or a result.
 */
export type EntryKey = { readonly role: "start" | "adopted" } | StepKey;
export type StepKey = { readonly role: StepRole; readonly step: number };

/** A delivery of a run: an entry, a call to a third party, or the answer of a call. */
export type DeliveryKey = EntryKey | { readonly role: "call" | "answer"; readonly step: number };

/** The steps `from` to `to`. A span of plans is one group, and is never joined with another. */
type Span = { readonly role: StepRole; readonly from: number; readonly to: number };

export type Order = {
  readonly spans: readonly Span[];
  /** The number of entries, with the start. */
  readonly length: number;
};

export const newOrder: Order = { spans: [], length: 1 };

export const has = ({ spans }: Order, { role, step }: StepKey): boolean =>
  spans.some((span) => span.role === role && span.from <= step && step <= span.to);

/** Appends `keys`, which are distinct and not in the history. The keys of one call were published together. */
export function extended({ spans, length }: Order, keys: readonly StepKey[]): Order {
  const next = [...spans];
  const before = spans.length;
  for (const { role, step } of keys) {
    const last = next.at(-1);
    const goesOn = last?.role === role && last.to + 1 === step;
    if (last && goesOn && (role === "result" || next.length > before))
      next[next.length - 1] = { ...last, to: step };
    else next.push({ role, from: step, to: step });
  }
  return { spans: next, length: length + keys.length };
}

/** Returns the rank of an entry; undefined when the history does not have it. */
export function rankIn({ spans }: Order, key: EntryKey): number | undefined {
  if (key.role === "start" || key.role === "adopted") return 0;
  let rank = 1;
  for (const { role, from, to } of spans) {
    if (role === key.role && from <= key.step && key.step <= to) return rank + key.step - from;
    rank += to - from + 1;
  }
  return undefined;
}

/** Returns the entries of the ranks `first` to `last`, both included. */
export function entriesBetween({ spans }: Order, first: number, last: number): EntryKey[] {
  const keys: EntryKey[] = first === 0 ? [{ role: "start" }] : [];
  let rank = 1;
  for (const { role, from, to } of spans) {
    const end = Math.min(to, from + last - rank);
    for (let step = from + Math.max(0, first - rank); step <= end; step++)
      keys.push({ role, step });
    rank += to - from + 1;
    if (rank > last) break;
  }
  return keys;
}

/** Returns the steps of parallel groups. */
export const plannedSteps = ({ spans }: Order): readonly number[] =>
  spans
    .filter(({ role }) => role === "plan")
    .flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i));

/** Returns the last step of the group that `step` was planned in; `step` itself if it was not planned. */
export const groupEnd = ({ spans }: Order, step: number): number =>
  spans.find(({ role, from, to }) => role === "plan" && from <= step && step <= to)?.to ?? step;
