/**
 * The message log: what happened to a message, as events with ids (message, attempt, state)
 * (docs/design/wire#the-message-log).
 */
import { unreachable } from "../shared/unreachable.ts";
import { type AttemptFact } from "./follow-up.ts";
import { type Answered } from "./outcome.ts";

export const logStates = [
  "CREATED",
  "ACTIVE",
  "RETRY",
  "ERROR",
  "DELIVERED",
  "FAILED",
  "CANCEL_REQUESTED",
  "CANCELED",
] as const;
export type LogState = (typeof logStates)[number];

/** `answered`: set on DELIVERED. The fact of a failed attempt has its own. */
export type LogEvent = {
  readonly at: number;
  readonly attempt: number;
  readonly state: LogState;
  readonly answered?: Answered;
};

/** The period by which events are counted. */
export const minuteMs = 60_000;

export const createdEvent = (createdAt: number): LogEvent => ({
  at: createdAt,
  attempt: 0,
  state: "CREATED",
});

/** Returns the events of one attempt or of a cancellation, oldest first. */
export function eventsOf(fact: AttemptFact): readonly LogEvent[] {
  const event = (at: number, state: LogState): LogEvent => ({ at, attempt: fact.attempt, state });
  const active = fact.startedAt === undefined ? [] : [event(fact.startedAt, "ACTIVE")];
  const { answered, endedAt } = fact;
  switch (fact.ended) {
    case "delivered":
      return [...active, { ...event(endedAt, "DELIVERED"), ...(answered && { answered }) }];
    case "retry":
      return [...active, event(endedAt, "ERROR"), event(endedAt, "RETRY")];
    case "failed":
      return [...active, event(endedAt, "ERROR"), event(endedAt, "FAILED")];
    case "canceled":
      return [...active, event(endedAt, "CANCEL_REQUESTED"), event(endedAt, "CANCELED")];
    default:
      return unreachable(fact.ended);
  }
}

/** Whether the log shows the destination's answer, or why there was none, for this state. */
export const tellsFact: Readonly<Record<LogState, boolean>> = {
  CREATED: false,
  ACTIVE: false,
  ERROR: true,
  RETRY: true,
  DELIVERED: false,
  FAILED: true,
  CANCEL_REQUESTED: false,
  CANCELED: false,
};

/** The order of states that share a time. */
export const rankOf: Readonly<Record<LogState, number>> = {
  CREATED: 0,
  ACTIVE: 1,
  ERROR: 2,
  RETRY: 3,
  DELIVERED: 4,
  FAILED: 5,
  CANCEL_REQUESTED: 6,
  CANCELED: 7,
};
