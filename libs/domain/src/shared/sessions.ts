/** Sessions of people in a browser (docs/adr/0190-a-session-is-a-sealed-cookie.md): for how long one is good, and which were ended. */
import { isOver } from "./time.ts";

export const sessionMs = 12 * 3_600_000;
/** Sessions of one owner that are remembered as ended. Beyond that, all that were made until then have ended. */
export const endedSessionsMax = 256;

export type SessionMade = { readonly id: string; readonly madeAt: number };

export type EndedSessions = {
  /** All sessions that were made until then have ended. */
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

/** Forgets sessions that have run out by themselves. */
export function withSessionEnded(
  ended: EndedSessions | undefined = noEndedSessions,
  session: SessionMade,
  now: number,
): EndedSessions {
  if (!isSessionOpen(session, ended, now)) return ended;
  const { id, madeAt } = session;
  const each = [...ended.each.filter((one) => !isOld(one, now)), { id, madeAt }];
  if (each.length <= endedSessionsMax) return { ...ended, each };
  // A clock may have been ahead when one of them was made.
  return { until: Math.max(now, ...each.map((one) => one.madeAt)), each: [] };
}

const isOld = ({ madeAt }: SessionMade, now: number): boolean =>
  isOver(madeAt + sessionMs, sessionMs, now);

/** Without spaces in ids. */
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
