/** Turns the events of one message into its attempts. */
import { type LogEntry } from "@posthaste/client/api";

export type Attempt = {
  readonly key: string;
  /** Counted from 1. Undefined if some events are unknown. */
  readonly number: number | undefined;
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly outcome: "under way" | "delivered" | "failed" | "canceled";
  /** Undefined if no answer came. */
  readonly answer: { readonly status: number; readonly bytes: number | undefined } | undefined;
  /** The event with the answer, or with the reason why there was none. */
  readonly failure: LogEntry | undefined;
  readonly nextAt: number | undefined;
};

export type Story = {
  /** The newest first. */
  readonly attempts: readonly Attempt[];
  /** The newest event's state. */
  readonly state: LogEntry["state"] | undefined;
  readonly createdAt: number | undefined;
  readonly endedAt: number | undefined;
  readonly lastFailure: LogEntry | undefined;
};

const ends: ReadonlySet<string> = new Set(["DELIVERED", "FAILED", "CANCELED"]);
export const hasEnded = (state: LogEntry["state"] | undefined): boolean =>
  state !== undefined && ends.has(state);

/** `events` are newest first, as in the log. `isWhole`: no earlier ones exist. */
export function storyOf(events: readonly LogEntry[], isWhole: boolean): Story {
  const attempts: Attempt[] = [];
  let created: LogEntry | undefined;
  for (const event of events.toReversed()) {
    const last = attempts.at(-1);
    if (event.state === "CREATED") created = event;
    else if (event.state === "ACTIVE") attempts.push(begun(event));
    else if (last !== undefined) attempts[attempts.length - 1] = gone(last, event);
    else if (!isWhole && event.state !== "CANCEL_REQUESTED")
      // The attempt's beginning is on an earlier page.
      attempts.push(gone({ ...begun(event), startedAt: undefined }, event));
  }
  const newest = events[0];
  const numbered = attempts.map((each, nth) => ({
    ...each,
    number: isWhole ? nth + 1 : undefined,
  }));
  return {
    attempts: numbered.toReversed(),
    state: newest?.state,
    createdAt: created?.time,
    endedAt: hasEnded(newest?.state) ? newest?.time : undefined,
    lastFailure: events.find(({ state }) => state === "ERROR"),
  };
}

const begun = ({ messageId, time }: LogEntry): Attempt => ({
  key: `${messageId} ${time}`,
  number: undefined,
  startedAt: time,
  endedAt: undefined,
  outcome: "under way",
  answer: undefined,
  failure: undefined,
  nextAt: undefined,
});

function gone(attempt: Attempt, event: LogEntry): Attempt {
  const { state, time } = event;
  const endedAt = attempt.endedAt ?? time;
  switch (state) {
    case "ERROR":
      return { ...attempt, endedAt, outcome: "failed", answer: answerIn(event), failure: event };
    case "RETRY":
      return { ...attempt, endedAt, outcome: "failed", nextAt: event.nextDeliveryTime };
    case "FAILED":
      return { ...attempt, endedAt, outcome: "failed" };
    case "DELIVERED":
      return { ...attempt, endedAt, outcome: "delivered", answer: answerIn(event) };
    case "CANCELED":
      // A message that waited for its retry was cancelled after its attempt.
      return attempt.endedAt === undefined ? { ...attempt, endedAt, outcome: "canceled" } : attempt;
    case "CREATED":
    case "ACTIVE":
    case "CANCEL_REQUESTED":
      return attempt;
  }
}

function answerIn({ answerBytes, answerStatus, responseStatus }: LogEntry): Attempt["answer"] {
  const status = answerStatus ?? responseStatus;
  return status === undefined ? undefined : { status, bytes: answerBytes };
}
