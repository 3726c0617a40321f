/** Kept bodies: what a message sent can be read for a while after its end (ADR 204). A failed message has a dead letter instead. */
import { type Plan } from "../shared/plans.ts";
import { type LogEvent, minuteMs } from "./log.ts";
import { type Configuration } from "./message.ts";

type Judged = Pick<Configuration, "policy" | "run">;

/** Reports whether the body may be kept: a redacted one is not, and the history of a run keeps its own. */
export const mayKeepBody = ({ policy: { redaction }, run }: Judged): boolean =>
  !redaction?.body && run === undefined;

/** Returns how long the plan keeps bodies: a message without a log is not read any more. */
export const keptMsOf = ({ keepBodiesMs, logMs }: Pick<Plan, "keepBodiesMs" | "logMs">): number =>
  Math.min(keepBodiesMs, logMs);

/** Returns until when the plan keeps the body; undefined where none is kept, and before the end. */
export function bodyKeptUntil(
  message: Judged,
  events: readonly LogEvent[],
  keptMs: number,
): number | undefined {
  const end = events.findLast(({ state }) => state === "DELIVERED" || state === "CANCELED");
  return end && mayKeepBody(message) ? end.at + keptMs : undefined;
}

/**
 * Returns how long bodies may be kept at most, so that they give way to what needs the disk. While it is too full the older half of what
 * is kept goes at each look, down to nothing below a minute; with room again the time doubles. Undefined: as long as the plans say.
 */
export function keptMsMaxNext(
  before: number | undefined,
  { isFull, longestMs }: { readonly isFull: boolean; readonly longestMs: number },
): number | undefined {
  if (isFull) {
    const half = Math.floor(Math.min(before ?? longestMs, longestMs) / 2);
    return half < minuteMs ? 0 : half;
  }
  if (before === undefined || before >= longestMs) return undefined;
  return Math.max(minuteMs, 2 * before);
}
