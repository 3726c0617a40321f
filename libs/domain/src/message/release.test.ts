import { describe, expect, it } from "@jest/globals";
import {
  aFlow,
  anOwner,
  aRunId,
  aTenant,
  aQueue,
  aRecordIn,
  epochStart as now,
  finishedStates,
  newId,
} from "@posthaste/testing";
import { runKey } from "../shared/ids.ts";
import { release } from "./release.ts";
import { ring } from "./ring.ts";

const held = { kind: "held", dueAt: now + 5_000 } as const;
const run = { key: runKey(aTenant, aRunId, 1), id: aRunId, root: newId(), createdAt: now };
const flow = { key: "k", limits: { parallelism: 1, periodMs: 1_000 } };

describe("releasing", () => {
  it("makes a message that waits for its time due now, by an alarm that rings as at the due time", () => {
    const record = aRecordIn(held);

    const released = release(record, now);

    expect(released).toEqual({
      kind: "released",
      next: { kind: "held", dueAt: now, waitMs: 1 },
      wakeAt: now,
    });
    if (released.kind !== "released") throw new Error("it waits");
    expect(ring({ ...record, state: released.next }, now, 0)).toMatchObject({
      next: { kind: "due" },
      then: "hint",
    });
  });

  it("leaves the gate behind the time to be passed: a slot of the flow key", () => {
    const record = aRecordIn(held, { flow });
    const released = release(record, now);
    if (released.kind !== "released") throw new Error("it waits");

    expect(ring({ ...record, state: released.next }, now, 0)).toMatchObject({ then: "grant" });
  });

  it("never makes anything later", () => {
    expect(release(aRecordIn({ kind: "held", dueAt: now - 10 }), now)).toMatchObject({
      next: { dueAt: now - 10 },
    });
  });

  it.each([
    { kind: "due", hints: 0 } as const,
    { kind: "claimed", owner: anOwner, leaseUntil: now + 30_000 } as const,
    { kind: "waiting", flow: aFlow } as const,
    ...finishedStates(),
  ])("releases nothing that is $kind", (state) => {
    expect(release(aRecordIn(state), now)).toEqual({ kind: "unknown" });
  });

  it.each(["start", "adopted", "p1", "s1", "c1", "a1", "f"])(
    "makes the retry of a delivery of a run due now: %s",
    (part) => {
      const ofRun = aRecordIn(held, { run: { ...run, bytes: 0, part } });

      expect(release(ofRun, now)).toMatchObject({ kind: "released", next: { dueAt: now } });
    },
  );

  it.each([
    ["start", "released"],
    ["a1", "released"],
    ["f", "released"],
    ["s1", "asleep"],
    ["p1", "asleep"],
  ])("ends each delay of a run, and no sleep of a step: %s", (part, kind) => {
    const ofRun = aRecordIn(held, { run: { ...run, bytes: 0, part }, delayMs: 5_000 });

    expect(release(ofRun, now).kind).toBe(kind);
  });

  it("is refused in a queue, where the turn decides", () => {
    const queued = { kind: "queued", queue: aQueue } as const;

    expect(release(aRecordIn(held, { queue: aQueue }), now)).toEqual({ kind: "inQueue" });
    expect(release(aRecordIn(queued, { queue: aQueue }), now)).toEqual({ kind: "inQueue" });
  });
});
