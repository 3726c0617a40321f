import { describe, expect, it } from "@jest/globals";
import { aFlow, anOwner, epochStart as now, finishedStates } from "@posthaste/testing";
import { alarmOf, dueSince } from "./alarm.ts";
import { type MessageState } from "./message.ts";

describe("the alarm of a state", () => {
  it.each<[string, MessageState, number | undefined, number]>([
    ["held: when it is due", { kind: "held", dueAt: now + 90_000 }, 90_000, 30_000],
    ["held for less than 30 s", { kind: "held", dueAt: now + 9_000 }, 9_000, 9_000],
    ["waiting: its lane has it", { kind: "waiting", flow: aFlow }, undefined, 30_000],
    ["due: 30 s after its hint", { kind: "due", hints: 0 }, 30_000, 30_000],
    ["due and hinted again: further", { kind: "due", hints: 2 }, 120_000, 30_000],
    ["due for very long: ten minutes", { kind: "due", hints: 2_000 }, 600_000, 30_000],
    [
      "granted: the grant's end, if that is sooner",
      { kind: "due", hints: 1, grantUntil: now + 45_000 },
      45_000,
      30_000,
    ],
    [
      "claimed: the lease's end",
      { kind: "claimed", owner: anOwner, leaseUntil: now + 30_000 },
      30_000,
      30_000,
    ],
  ])("%s; with an outbox 30 s at most", (_, state, ownMs, withOutboxMs) => {
    expect(alarmOf(state, false, now)).toBe(ownMs === undefined ? undefined : now + ownMs);
    expect(alarmOf(state, true, now)).toBe(now + withOutboxMs);
  });

  it.each(finishedStates(now))("$kind: none, until there is an outbox", (state) => {
    expect(alarmOf(state, false, now)).toBeUndefined();
    expect(alarmOf(state, true, now)).toBe(now + 30_000);
  });
});

describe("since when a record is due", () => {
  it.each([0, 1, 2, 4, 5, 9])("is known from its alarm, also after %i rings more", (rings) => {
    let at = now;
    for (let hints = 0; hints <= rings; hints++)
      at = alarmOf({ kind: "due", hints }, false, at) ?? NaN;

    expect(dueSince(rings, at)).toBe(now);
  });
});
