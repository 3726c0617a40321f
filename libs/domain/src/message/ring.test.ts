import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import {
  aCallbackPlan,
  aClaimedRecord,
  aFlow,
  anAnswer,
  anAttempt,
  anOwner,
  aPolicy,
  aRecordIn,
  epochStart as now,
  finishedStates,
} from "@posthaste/testing";
import { type MessageState } from "./message.ts";
import { ring } from "./ring.ts";
import { settleAttempt } from "./settle.ts";

const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };
const callback = aCallbackPlan();
const { append: outbox } = settleAttempt(
  aClaimedRecord({ policy: aPolicy({ callback }) }),
  anAttempt(anAnswer(200)),
  { chance: 0, retryDelayMs: undefined },
);

describe("ringing", () => {
  it("a held record before its time does nothing", () => {
    const record = aRecordIn({ kind: "held", dueAt: now + 5_000 });

    expect(ring(record, now, 0)).toEqual({
      next: record.state,
      wakeAt: now + 5_000,
      then: "nothing",
      followUp: false,
    });
  });

  it("a held record at its time makes it due and hints it", () => {
    const record = aRecordIn({ kind: "held", dueAt: now });

    expect(ring(record, now, 0)).toEqual({
      next: { kind: "due", hints: 0 },
      wakeAt: now + 30_000,
      then: "hint",
      followUp: false,
    });
  });

  it("a held record at its time with a lane puts it into its line", () => {
    const record = aRecordIn({ kind: "held", dueAt: now }, { flow });

    expect(ring(record, now, 0)).toEqual({
      next: { kind: "waiting", flow: aFlow },
      wakeAt: undefined,
      then: "grant",
      followUp: false,
    });
  });

  it("a due record hints it again, at double the distance each time, up to ten minutes", () => {
    let state: MessageState = { kind: "due", hints: 0 };
    const distances: number[] = [];
    for (let round = 0; round < 7; round++) {
      const { next, wakeAt, then } = ring(aRecordIn(state), now, 0);
      expect(then).toBe("hint");
      distances.push((wakeAt ?? 0) - now);
      state = next;
    }

    expect(distances).toEqual([60_000, 120_000, 240_000, 480_000, 600_000, 600_000, 600_000]);
  });

  it("a granted record within its grant hints it, and its alarm is never later than the grant's end", () => {
    const record = aRecordIn({ kind: "due", hints: 0, grantUntil: now + 10_000 }, { flow });

    expect(ring(record, now, 0)).toMatchObject({
      next: { kind: "due" },
      wakeAt: now + 10_000,
      then: "hint",
    });
  });

  it("a granted record whose grant is past puts it back into its line", () => {
    const record = aRecordIn({ kind: "due", hints: 0, grantUntil: now }, { flow });

    expect(ring(record, now, 0)).toMatchObject({
      next: { kind: "waiting", flow: aFlow },
      wakeAt: undefined,
      then: "grant",
    });
  });

  it("a claim whose lease holds does nothing; a claim whose lease is past hints the record unchanged", () => {
    const held = aRecordIn({ kind: "claimed", owner: anOwner, leaseUntil: now + 1 });
    const lost = aRecordIn({ kind: "claimed", owner: anOwner, leaseUntil: now });

    expect(ring(held, now, 0)).toMatchObject({
      next: held.state,
      wakeAt: now + 1,
      then: "nothing",
    });
    expect(ring(lost, now, 0)).toMatchObject({
      next: lost.state,
      wakeAt: now + 30_000,
      then: "hint",
    });
  });

  it("a waiting record leaves it to its lane", () => {
    expect(ring(aRecordIn({ kind: "waiting", flow: aFlow }, { flow }), now, 0)).toMatchObject({
      wakeAt: undefined,
      then: "nothing",
    });
  });

  it.each(finishedStates(now))("a finished record has no alarm left: $kind", (state) => {
    expect(ring(aRecordIn(state), now, 0)).toEqual({
      next: state,
      wakeAt: undefined,
      then: "nothing",
      followUp: false,
    });
  });

  it.each([...finishedStates(now), { kind: "waiting" as const, flow: aFlow }])(
    "a record with an outbox follows it up and rings again in 30 s, even when it is $kind",
    (state) => {
      expect(ring(aRecordIn(state, { outbox }), now, 0)).toMatchObject({
        next: state,
        wakeAt: now + 30_000,
        followUp: true,
      });
    },
  );

  it("never loses an alarm: a record that is not finished and not waiting rings again, later than now", () => {
    const times = fc.integer({ min: -700_000, max: 700_000 }).map((ms) => now + ms);
    const states: fc.Arbitrary<MessageState> = fc.oneof(
      fc.record({ kind: fc.constant("held" as const), dueAt: times }),
      fc.record({ kind: fc.constant("due" as const), hints: fc.nat(100) }),
      fc.record({ kind: fc.constant("due" as const), hints: fc.nat(100), grantUntil: times }),
      fc.record({
        kind: fc.constant("claimed" as const),
        owner: fc.constant(anOwner),
        leaseUntil: times,
      }),
      fc.constant<MessageState>({ kind: "waiting", flow: aFlow }),
      fc.constantFrom(...finishedStates(now)),
    );

    const holds = fc.property(states, fc.boolean(), fc.boolean(), (state, inLane, hasOutbox) => {
      const record = aRecordIn(state, { ...(inLane && { flow }), outbox: hasOutbox ? outbox : [] });
      const { next, wakeAt, then, followUp } = ring(record, now, 0);
      const alarmless = next.kind === "waiting" || "endedAt" in next;
      if (!alarmless || hasOutbox) expect(wakeAt).toBeGreaterThan(now);
      if (hasOutbox) expect(wakeAt).toBeLessThanOrEqual(now + 30_000);
      if (next.kind === "waiting" && state.kind !== "waiting") expect(then).toBe("grant");
      expect(followUp).toBe(hasOutbox);
    });

    fc.assert(holds, { seed: 1, numRuns: 2_000 });
  });
});
