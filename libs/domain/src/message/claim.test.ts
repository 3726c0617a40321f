import { describe, expect, it } from "@jest/globals";
import {
  aCallbackPlan,
  aClaimedRecord,
  aFlow,
  anAnswer,
  anAttempt,
  anotherOwner,
  anOwner,
  aPolicy,
  aRecordIn,
  epochStart as now,
  finishedStates,
} from "@posthaste/testing";
import { leaseLossParts } from "../shared/limits.ts";
import { claim, isClaimable } from "./claim.ts";
import { type MessageState } from "./message.ts";
import { settleAttempt } from "./settle.ts";

const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };

describe("a record can be claimed", () => {
  it.each<[string, boolean, MessageState, boolean]>([
    ["due", true, { kind: "due", hints: 0 }, false],
    ["due within its grant", true, { kind: "due", hints: 0, grantUntil: now + 1 }, true],
    ["due with its grant past", false, { kind: "due", hints: 0, grantUntil: now }, true],
    ["held with its time come", true, { kind: "held", dueAt: now }, false],
    ["held with its time ahead", false, { kind: "held", dueAt: now + 1 }, false],
    ["held with its time come and a lane", false, { kind: "held", dueAt: now }, true],
    ["waiting", false, { kind: "waiting", flow: aFlow }, true],
    [
      "claimed with its lease past",
      true,
      { kind: "claimed", owner: anOwner, leaseUntil: now },
      false,
    ],
    [
      "claimed with its lease past, in a lane",
      true,
      { kind: "claimed", owner: anOwner, leaseUntil: now },
      true,
    ],
    [
      "claimed with its lease ahead",
      false,
      { kind: "claimed", owner: anOwner, leaseUntil: now + 1 },
      false,
    ],
  ])("when it is %s: %s", (_, expected, state, inLane) => {
    expect(isClaimable(aRecordIn(state, inLane ? { flow } : {}), now, 0)).toBe(expected);
  });

  it.each(finishedStates(now))("never when it is $kind", (state) => {
    expect(isClaimable(aRecordIn(state), now, 0)).toBe(false);
  });
});

describe("a claim", () => {
  it("raises the epoch, leases for 30 s and sets the alarm to the lease's end", () => {
    const claimed = claim(
      aRecordIn({ kind: "due", hints: 4 }, { epoch: 6, retried: 2 }),
      anotherOwner,
      now,
    );

    expect(claimed).toMatchObject({
      state: { kind: "claimed", owner: anotherOwner, leaseUntil: now + 30_000 },
      wakeAt: now + 30_000,
      epoch: 7,
      retried: 2,
      leaseLosses: 0,
    });
  });

  it("counts a lease as lost only when it takes over from a claimer", () => {
    const taken = claim(
      aRecordIn({ kind: "claimed", owner: anOwner, leaseUntil: now }, { leaseLosses: 2 }),
      anotherOwner,
      now,
    );
    const fresh = claim(
      aRecordIn({ kind: "held", dueAt: now }, { leaseLosses: 2 }),
      anotherOwner,
      now,
    );

    const renewed = claim(
      aRecordIn(
        { kind: "claimed", owner: anOwner, leaseUntil: now, renewed: true },
        { leaseLosses: 2 },
      ),
      anotherOwner,
      now,
    );

    expect([taken, renewed, fresh].map(({ leaseLosses }) => leaseLosses)).toEqual([
      2 + leaseLossParts,
      3,
      2,
    ]);
    expect(renewed.state).not.toHaveProperty("renewed");
  });

  it("keeps the outbox, and an alarm that is no later than its", () => {
    const callback = aCallbackPlan();
    const { append: outbox } = settleAttempt(
      aClaimedRecord({ policy: aPolicy({ callback }) }),
      anAttempt(anAnswer(500)),
      { chance: 0, retryDelayMs: undefined },
    );

    const claimed = claim(aRecordIn({ kind: "due", hints: 0 }, { outbox }), anOwner, now);

    expect(claimed.outbox).toEqual(outbox);
    expect(claimed.wakeAt).toBeLessThanOrEqual(now + 30_000);
  });
});
