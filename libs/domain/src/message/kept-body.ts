/**
 * Kept bodies: the request and the answer of a message can be read for a while after its end (ADR 204, ADR 187). A
 * failed message has a dead letter instead.
 */
import { cutAtCharacter } from "../shared/cut.ts";
import { keptAnswerBytesMax } from "../shared/limits.ts";
import { type Plan } from "../shared/plans.ts";
import { type LogEvent, minuteMs } from "./log.ts";
import { type Configuration } from "./message.ts";

type Judged = Pick<Configuration, "policy" | "run">;

/** Reports whether the body may be kept. A redacted body is not kept, and the history of a run keeps its own. */
export const mayKeepBody = ({ policy: { redaction }, run }: Judged): boolean =>
  !redaction?.body && run === undefined;

/** Returns the kept part of the answer that delivered the message: the beginning of its body, if the body may be kept and is not empty. */
export function keptAnswer(message: Judged, body: Uint8Array): Uint8Array | undefined {
  if (body.length === 0 || !mayKeepBody(message)) return undefined;
  // Copied when cut, so that the rest of the answer can be freed.
  return body.length <= keptAnswerBytesMax
    ? body
    : new Uint8Array(cutAtCharacter(body, keptAnswerBytesMax));
}

/** Returns how long the plan keeps bodies. They are not kept longer than the log, without which a message is not read. */
export const keptMsOf = ({ keepBodiesMs, logMs }: Pick<Plan, "keepBodiesMs" | "logMs">): number =>
  Math.min(keepBodiesMs, logMs);

/** Reports whether the plan may keep any body; true for a tenant that is not known. */
export const keepsBodies = (plan: Pick<Plan, "keepBodiesMs" | "logMs"> | undefined): boolean =>
  plan === undefined || keptMsOf(plan) > 0;

/** Returns until when the plan keeps the body; undefined if it keeps none, and before the message's end. */
export function bodyKeptUntil(
  message: Judged,
  events: readonly LogEvent[],
  keptMs: number,
): number | undefined {
  const end = events.findLast(({ state }) => state === "DELIVERED" || state === "CANCELED");
  return end && mayKeepBody(message) ? end.at + keptMs : undefined;
}

/**
 * Returns how long bodies may be kept at most, so that the disk has space for other data. While the disk is
 * too full, the older half of the kept bodies is removed at each look, down to nothing below a minute; with free space
 * again the time doubles. Undefined for as long as the plans say.
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
