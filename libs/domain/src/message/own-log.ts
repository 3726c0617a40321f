/** Deliveries whose record is their row of the log as well (ADR 205). */
import { isDerived } from "../shared/ids.ts";
import { namedBodyBytesMax, ownLogMs } from "../shared/limits.ts";
import { type AttemptFact } from "./follow-up.ts";
import { type LogState } from "./log.ts";
import { type Message } from "./message.ts";
import { owedToLog, type Settlement } from "./settlement.ts";

export type OwnFact = AttemptFact & { readonly startedAt: number };

/** The events in such a row. */
export const ownStates: readonly LogState[] = ["CREATED", "ACTIVE", "DELIVERED"];

/**
 * Returns the fact of a delivery whose record may be its row of the log: of a plain message, by its first attempt,
 * and within `ownLogMs` of its making, so that a list in the order of time finds all of its events close together.
 */
export function ownFactOf(settlement: Settlement): OwnFact | undefined {
  const { message, retried } = settlement;
  const fact = owedToLog(settlement);
  if (fact?.startedAt === undefined || retried > 0 || !isPlain(message)) return undefined;
  const { endedAt, startedAt } = fact;
  const isNear = (at: number): boolean => at <= endedAt && at >= endedAt - ownLogMs;
  return isNear(message.createdAt) && isNear(startedAt) ? { ...fact, startedAt } : undefined;
}

/** Reports whether the message has an id of its own, a light body, and none of the rare fields by which lists find messages. */
const isPlain = ({ id, body, policy, origin, ...message }: Message): boolean =>
  !isDerived(id) &&
  body.length <= namedBodyBytesMax &&
  message.format === undefined &&
  message.bodyOf === undefined &&
  message.flow === undefined &&
  message.queue === undefined &&
  message.turnOf === undefined &&
  policy.flow === undefined &&
  policy.labels.length === 0 &&
  origin.group === undefined &&
  origin.scheduleId === undefined &&
  origin.queueName === undefined;
