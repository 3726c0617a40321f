/** Sessions of people in a browser (docs/adr/0190-a-session-is-a-sealed-cookie.md): how long a session is valid, and which have ended. */
import { isOver } from "./time.ts";

export const sessionMs = 12 * 3_600_000;
/** Ended sessions remembered for one owner. Beyond that, every session made until then counts as ended. */
export const endedSessionsMax = 256;

export type SessionMade = { readonly id: string; readonly madeAt: number };

export type EndedSessions = {
  /** Every session made at or before this time has ended. */
  readonly until: number;
  readonly each: readonly SessionMade[];
};

export const noEndedSessions: EndedSessions = { until: 0, each: [] };

export const isSessionOpen = (
  session: SessionMade,
  ended: EndedSessions | undefined,
  now: number,
): boolean =>
  !isOld(session, now) &&
  (ended === undefined ||
    (session.madeAt > ended.until && !ended.each.some(({ id }) => id === session.id)));

/** Adds `session` to the ended ones, and drops sessions that have expired. */
export function withSessionEnded(
  ended: EndedSessions | undefined = noEndedSessions,
  session: SessionMade,
  now: number,
): EndedSessions {
  if (!isSessionOpen(session, ended, now)) return ended;
  const { id, madeAt } = session;
  const each = [...ended.each.filter((one) => !isOld(one, now)), { id, madeAt }];
  if (each.length <= endedSessionsMax) return { ...ended, each };
  // The clock may have been ahead when one of them was made, so the latest time counts.
  return { until: Math.max(now, ...each.map((one) => one.madeAt)), each: [] };
}

const isOld = ({ madeAt }: SessionMade, now: number): boolean =>
  isOver(madeAt + sessionMs, sessionMs, now);

/** Writes one session on each line: ids contain no spaces. */
export const endedSessionsText = ({ until, each }: EndedSessions): string =>
  [until, ...each.map(({ id, madeAt }) => `${madeAt} ${id}`)].join("\n");

export function endedSessionsFrom(text: string): EndedSessions {
  const [until = "", ...lines] = text.split("\n");
  const each = lines.map((line) => {
    const [madeAt = "", id = ""] = line.split(" ");
    return { id, madeAt: Number(madeAt) };
  });
  return { until: Number(until), each };
}
