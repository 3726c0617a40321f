import { describe, expect, it } from "@jest/globals";
import {
  aClaimedRecord,
  anAnswer,
  anAttempt,
  aPolicy,
  aRecordIn,
  aTimeout,
  epochStart,
  liveStates,
} from "@posthaste/testing";
import { cancel } from "./cancel.ts";
import { type AttemptFact, type FollowUp } from "./follow-up.ts";
import { createdEvent, eventsOf, logStates, rankOf } from "./log.ts";
import { type Outcome } from "./outcome.ts";
import { settleAttempt } from "./settle.ts";

const isFact = (item: FollowUp): item is AttemptFact => item.kind === "fact";

function factsOf(retriesMax: number, outcome: Outcome, retried: number): readonly AttemptFact[] {
  const record = aClaimedRecord({ retried, policy: aPolicy({ retriesMax }) });
  const attempt = anAttempt(outcome, { endedAt: epochStart + 1_000 * (retried + 1) });
  const { append } = settleAttempt(record, attempt, { chance: 0, retryDelayMs: undefined });
  return append.filter(isFact);
}

/** Returns the log of a message whose attempts have these outcomes, a second apart. */
function logOf(retriesMax: number, outcomes: readonly Outcome[]) {
  const facts = outcomes.flatMap((outcome, retried) => factsOf(retriesMax, outcome, retried));
  return [createdEvent(epochStart), ...facts.flatMap(eventsOf)];
}
const statesOf = (retriesMax: number, outcomes: readonly Outcome[]) =>
  logOf(retriesMax, outcomes).map(({ state }) => state);

describe("the log of a message", () => {
  it("that is delivered at once reads CREATED, ACTIVE, DELIVERED", () => {
    expect(statesOf(3, [anAnswer(200)])).toEqual(["CREATED", "ACTIVE", "DELIVERED"]);
  });

  it("that fails without retries reads CREATED, ACTIVE, ERROR, FAILED: four entries", () => {
    expect(statesOf(0, [anAnswer(500)])).toEqual(["CREATED", "ACTIVE", "ERROR", "FAILED"]);
  });

  it("that is retried has ACTIVE, ERROR, RETRY for each attempt that failed", () => {
    expect(statesOf(2, [anAnswer(500), aTimeout, anAnswer(200)])).toEqual([
      "CREATED", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "ERROR", "RETRY", "ACTIVE", "DELIVERED",
    ]); // oxfmt-ignore
  });

  it("has the times of the attempts, never running backwards, and a place of its own for each event", () => {
    const events = logOf(2, [anAnswer(500), aTimeout, anAnswer(500)]);

    const times = events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(events[1]).toEqual({ at: epochStart + 750, attempt: 0, state: "ACTIVE" });
    expect(new Set(events.map(({ attempt, state }) => `${attempt} ${state}`)).size).toBe(
      events.length,
    );
  });

  it("has status and size of each answer: on DELIVERED, and in the fact of a failure", () => {
    const facts = [
      anAnswer(500, { body: "no" }),
      aTimeout,
      anAnswer(201, { body: "made" }),
    ].flatMap((outcome, retried) => factsOf(3, outcome, retried));

    expect(facts.map(({ answered }) => answered)).toEqual([
      { status: 500, bytes: 2 },
      undefined,
      { status: 201, bytes: 4 },
    ]);
    const events = facts.flatMap(eventsOf);
    expect(events.filter((event) => "answered" in event)).toEqual([
      expect.objectContaining({ state: "DELIVERED", answered: { status: 201, bytes: 4 } }),
    ]);
  });

  it.each(liveStates(epochStart))(
    "that is canceled while it is $kind is ACTIVE if its attempt runs, and ends with CANCEL_REQUESTED, CANCELED",
    (state) => {
      const { fact } = cancel(aRecordIn(state, { retried: 2 }), epochStart);

      const active = state.kind === "claimed" ? ["ACTIVE"] : [];
      expect(eventsOf(fact).map((event) => [event.state, event.attempt])).toEqual(
        [...active, "CANCEL_REQUESTED", "CANCELED"].map((name) => [name, 2]),
      );
    },
  );

  it("is in order also if several events share a time", () => {
    const shared = logStates.toSorted((a, b) => rankOf[a] - rankOf[b]);

    expect(shared).toEqual([
      "CREATED", "ACTIVE", "ERROR", "RETRY", "DELIVERED", "FAILED", "CANCEL_REQUESTED", "CANCELED",
    ]); // oxfmt-ignore
  });
});
