/** Where a caller that follows the log has come to. */
import { type Mark, type Seen, seenFrom, seenText } from "./seen.ts";

export type LivePlace = {
  /** What is older was looked at for the last time. */
  readonly since: number;
  /** The last event that was returned. */
  readonly last?: LastEvent;
  /** Which of the events from `since` to the last one were returned; that one itself is not in it. */
  readonly seen: Seen;
};

export type LastEvent = Mark & { readonly position: string };

export const textOfPlace = ({ since, last, seen }: LivePlace): string =>
  JSON.stringify([
    since,
    seenText(seen, since),
    ...(last ? [last.at, last.mark, last.position] : []),
  ]);

/** `text` is our own, which came back signed. */
export function placeFrom(text: string): LivePlace {
  const [since, seen, at, mark, position] = JSON.parse(text) as PlaceFields;
  const last = position !== undefined && { last: { at, mark, position } };
  return { since, seen: seenFrom(seen, since), ...last };
}

type PlaceFields =
  | readonly [since: number, seen: string, at: number, mark: number, position: string]
  | readonly [since: number, seen: string, at?: undefined, mark?: undefined, position?: undefined];
