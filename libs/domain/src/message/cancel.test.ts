import { describe, expect, it } from "@jest/globals";
import {
  aPolicy,
  aRecordIn,
  aTenant,
  epochStart as now,
  finishedStates,
  liveStates,
} from "@posthaste/testing";
import { messageId, owner, runId, runKey } from "../shared/ids.ts";
import { leaseMs, namedLeaseMs } from "../shared/limits.ts";
import { cancel, dropped, owedCancellation, owesOnlyLog } from "./cancel.ts";
import { type InState, type LiveKind } from "./message.ts";

describe("canceling", () => {
  it.each(liveStates(now))(
    "ends a message that is $kind, fences its attempt and leaves the fact in the outbox",
    (state) => {
      const record = aRecordIn(state, { epoch: 4, retried: 2 });

      expect(cancel(record, now)).toEqual({
        next: { kind: "canceled", endedAt: now },
        epoch: 5,
        wakeAt: now + 30_000,
        fact: {
          kind: "fact",
          id: record.message.id,
          attempt: 2,
          startedAt: state.kind === "claimed" ? record.message.createdAt : undefined,
          endedAt: now,
          ended: "canceled",
        },
      });
    },
  );
});

describe("a cancellation", () => {
  const isOwed = (record: InState<LiveKind>): boolean =>
    owesOnlyLog(record, cancel(record, now).fact);

  it.each(liveStates(now))(
    "of a message that is $kind needs no fact beside its record, unless it ran",
    (state) => {
      const record = aRecordIn(state, { retried: 2 });
      const { fact } = cancel(record, now);

      expect(isOwed(record)).toBe(state.kind !== "claimed");
      if (isOwed(record)) expect(owedCancellation(record.message.id, 2, now)).toEqual(fact);
    },
  );

  it("of a message with follow-ups or redactions needs its fact", () => {
    const held = { kind: "held", dueAt: now } as const;
    const { fact } = cancel(aRecordIn(held), now);

    expect(isOwed(aRecordIn(held, { outbox: [fact] }))).toBe(false);
    const policy = aPolicy({ redaction: { body: true, headers: [] } });
    expect(isOwed(aRecordIn(held, { policy }))).toBe(false);
  });
});

describe("the beginning of an attempt that was canceled", () => {
  const at = now + 60_000;
  const begunAt = (leaseUntil: number, createdAt = now) => {
    const claimed = { kind: "claimed", owner: owner("d"), leaseUntil } as const;
    return cancel(aRecordIn(claimed, { now: createdAt }), at).fact.startedAt;
  };

  it.each([
    ["its claim by a deliverer", at - 1_000 + leaseMs, now, at - 1_000],
    ["its insert, which named a deliverer", at - 500 + namedLeaseMs, at - 500, at - 500],
    ["its claim, whose lease is over", at - 1_000, now, at - 1_000 - leaseMs],
    ["no later than its end, by a clock that was ahead", at + 10 * leaseMs, now, at],
    ["no later than its end, made by a clock that was ahead", at, at + 5_000, at],
  ])("is %s", (_, leaseUntil, createdAt, expected) => {
    expect(begunAt(leaseUntil, createdAt)).toBe(expected);
  });
});

describe("the remaining messages of an ended run", () => {
  const id = runId("run");
  const key = runKey(aTenant, id, 1);
  const run = { id, key, root: messageId("msg_root"), part: "s1", bytes: 0, createdAt: 0 };

  it.each(liveStates(now))("is dropped where it is $kind, unless it is running", (state) => {
    const record = aRecordIn(state, { epoch: 4, run });

    expect(dropped(record, now)).toEqual(
      state.kind === "claimed" ? undefined : { next: { kind: "canceled", endedAt: now }, epoch: 5 },
    );
    expect(dropped(aRecordIn(state), now)).toBeUndefined();
  });

  it.each(finishedStates())("is left alone where it is $kind", (state) => {
    expect(dropped(aRecordIn(state, { run }), now)).toBeUndefined();
  });
});
