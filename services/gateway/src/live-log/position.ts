/** The position of a caller that follows the log. */
import { type Mark, type Seen, seenFrom, seenText } from "./seen.ts";

export type LivePosition = {
  /** Events before this time were checked for the last time. */
  readonly since: number;
  readonly last?: LastEvent;
  /** The returned events from `since` up to, but not including, the last one. */
  readonly seen: Seen;
};

export type LastEvent = Mark & { readonly position: string };

export const positionText = ({ since, last, seen }: LivePosition): string =>
  JSON.stringify([
    since,
    seenText(seen, since),
    ...(last ? [last.at, last.mark, last.position] : []),
  ]);

/** Parses a place. `text` was made by this service, and came back signed. */
export function parsePosition(text: string): LivePosition {
  const [since, seen, at, mark, position] = JSON.parse(text) as PlaceFields;
  const last = position !== undefined && { last: { at, mark, position } };
  return { since, seen: seenFrom(seen, since), ...last };
}

type PlaceFields =
  | readonly [since: number, seen: string, at: number, mark: number, position: string]
  | readonly [since: number, seen: string, at?: undefined, mark?: undefined, position?: undefined];
