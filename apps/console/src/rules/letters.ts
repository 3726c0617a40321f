/** Reads dead letters: when each failed, why, and which belong together. */
import { type DeadLetter } from "@posthaste/client/api";

/** Reads the time at the beginning of an id. */
export const failedAt = (dlqId: string): number | undefined => {
  const at = Number(/^(?:dlq_)?(\d+)-/.exec(dlqId)?.[1]);
  return Number.isNaN(at) ? undefined : at;
};

/** Drops runs, which only a list of `source=workflow` contains. */
export const lettersIn = (
  data: { readonly messages: readonly object[] } | undefined,
): readonly DeadLetter[] | undefined =>
  data?.messages.filter((each): each is DeadLetter => !("workflowRunId" in each));

/** Returns the status in a few words, or why there was no answer. */
export function reasonOf({ responseStatus, error }: DeadLetter): string {
  if (responseStatus === 0) return error ?? "no answer";
  return error === undefined ? `status ${responseStatus}` : `status ${responseStatus}, ${error}`;
}

/** Returns the URL without the parts that differ from call to call. */
export function placeOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? url : `${parsed.origin}${parsed.pathname}`;
}

/** `host` may include the port. Undefined matches any. */
export const isAt = (host: string | undefined, url: string): boolean => {
  if (host === undefined) return true;
  const parsed = URL.parse(url);
  return parsed !== null && (parsed.host === host || parsed.hostname === host);
};

export type LetterGroup = {
  readonly place: string;
  readonly reason: string;
  readonly count: number;
  /** The failure times of the oldest and the newest. */
  readonly since: number | undefined;
  readonly last: number | undefined;
  /** The newest. */
  readonly letter: DeadLetter;
};

/** `letters` are newest first. Sorts the largest group first. */
export function groupsOf(letters: readonly DeadLetter[]): readonly LetterGroup[] {
  const groups = Map.groupBy(letters, (each) => `${placeOf(each.url)} ${reasonOf(each)}`);
  return [...groups.values()]
    .flatMap((group): readonly LetterGroup[] => {
      const [letter] = group;
      if (letter === undefined) return [];
      return [
        {
          place: placeOf(letter.url),
          reason: reasonOf(letter),
          count: group.length,
          since: failedAt(group.at(-1)?.dlqId ?? ""),
          last: failedAt(letter.dlqId),
          letter,
        },
      ];
    })
    .toSorted((a, b) => b.count - a.count);
}
