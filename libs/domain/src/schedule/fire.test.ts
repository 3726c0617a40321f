import { describe, expect, it } from "@jest/globals";
import { aCron, aScheduleCommand, dice } from "@posthaste/testing";
import { childId, parentOf, slotId } from "../shared/ids.ts";
import { ringAheadMs, slotLateMsMax, slotsCountedMax } from "../shared/limits.ts";
import { anyExpression } from "./expressions.fixture.ts";
import { commandAt, fired, type Firing, firingOf } from "./fire.ts";
import { nextSlot } from "./next-slot.ts";
import { aSchedule, hourMs, minuteMs, noon } from "./schedule.fixture.ts";
import { newSchedule, paused, type Schedule } from "./schedule.ts";

const everyTen = aCron("*/10 * * * *");
const first = noon + 10 * minuteMs;
const fire = (schedule: Schedule, now: number, cron = everyTen): Firing =>
  firingOf(schedule, cron, now, slotLateMsMax);

describe("a schedule that rings", () => {
  it("fires the slot that is due, and the next slot follows from that slot, not from the clock", () => {
    const now = first + 40;

    expect(fire(aSchedule(), now)).toMatchObject({
      kind: "advance",
      slot: first,
      skipped: 0,
      schedule: {
        version: 2,
        pending: first,
        next: first + 10 * minuteMs,
        wakeAt: now + ringAheadMs,
      },
    });
  });

  it("repeats the slot whose end was not written, whatever else is due", () => {
    const { schedule } = advanced(fire(aSchedule(), first));

    expect(fire(schedule, first + hourMs)).toEqual({ kind: "repeat", slot: first });
    expect(fire(paused(schedule, first), first + 1)).toEqual({ kind: "repeat", slot: first });
  });

  it.each([
    ["before its slot", aSchedule(), first - 1],
    ["after the clock was set back", { ...aSchedule(), next: first + hourMs }, first],
  ])("fires nothing %s, and takes its alarm back there", (_, schedule, now) => {
    const { slot, skipped, schedule: then } = advanced(fire(schedule, now));

    expect({ slot, skipped, wakeAt: then.wakeAt }).toEqual({
      slot: undefined,
      skipped: 0,
      wakeAt: schedule.next,
    });
  });

  it("fires nothing while it is paused, and has no alarm", () => {
    const { slot, schedule } = advanced(fire(paused(aSchedule(), noon), first));

    expect(slot).toBeUndefined();
    expect(schedule).not.toHaveProperty("wakeAt");
  });

  it("does not fire a time that is no slot any more, and continues with the next slot", () => {
    const moved = { ...aSchedule(), next: first + minuteMs };

    expect(fire(moved, first + minuteMs)).toMatchObject({
      skipped: 0,
      schedule: { next: first + 10 * minuteMs },
    });
    expect(fire(moved, first + minuteMs)).not.toHaveProperty("slot");
  });
});

describe("after a time in which nothing rang", () => {
  it.each([
    ["one slot, four minutes late", "*/10 * * * *", 14, [10], 0],
    ["one slot, an hour late", "*/10 * * * *", 10 + 60, [70], 6],
    ["every slot of the last five minutes", "* * * * *", 4, [1, 2, 3, 4], 0],
    ["… and those before are skipped", "* * * * *", 20, [15, 16, 17, 18, 19, 20], 14],
    ["the last one, if none is so young", "*/10 * * * *", 18, [10], 0],
    ["… and not the ones before it", "*/10 * * * *", 58, [50], 4],
    ["none that is older than an hour", "0 13 * * *", 60 + 61, [], 1],
    ["one that is just an hour old", "0 13 * * *", 60 + 60, [60], 0],
  ])("%s: %s, looked at after %i minutes, fires %j", (_, text, minutes, expected, left) => {
    const cron = aCron(text);
    const now = noon + minutes * minuteMs;
    let schedule: Schedule = newSchedule(aScheduleCommand(text), aSchedule().id, "u", noon);
    const slots: number[] = [];
    let skippedInAll = 0;
    while ((schedule.next ?? Infinity) <= now) {
      const { slot, skipped, schedule: then } = advanced(fire(schedule, now, cron));
      skippedInAll += skipped;
      if (slot !== undefined) slots.push((slot - noon) / minuteMs);
      schedule = slot === undefined ? then : (fired(then, { slot, messages: [] }, now) ?? then);
    }

    expect(slots).toEqual(expected);
    expect(skippedInAll).toBe(left);
  });

  it("of years, counts no more than a day of minutes, and is done at once", () => {
    const now = noon + 10 * 365 * 24 * hourMs;
    const { slot, skipped, schedule } = advanced(
      fire(aSchedule("* * * * *"), now, aCron("* * * * *")),
    );

    expect(slot).toBe(now - 5 * minuteMs);
    expect(skipped).toBe(slotsCountedMax);
    expect(schedule.next).toBe(now - 4 * minuteMs);
  });

  it("continues with any expression, however late: slots only grow, and none is early", () => {
    const roll = dice(11);
    for (let n = 0; n < 100; n++) {
      const { text, cron } = anyExpression(roll, roll.pick([undefined, "Europe/Berlin"]));
      const next = nextSlot(cron, noon);
      if (next === undefined) continue;
      let schedule: Schedule = { ...aSchedule(), cron: text, next };
      let now = next;
      let before = noon;
      for (let round = 0; round < 20; round++) {
        now += roll.pick([0, 1, minuteMs, 7 * minuteMs, hourMs, 30 * 24 * hourMs]);
        const { slot, schedule: then } = advanced(firingOf(schedule, cron, now, slotLateMsMax));
        if (slot !== undefined) {
          expect(slot).toBeGreaterThan(before);
          expect(slot).toBeLessThanOrEqual(now);
          expect(nextSlot(cron, slot - 1)).toBe(slot);
          expect(now - slot).toBeLessThanOrEqual(slotLateMsMax);
          before = slot;
        }
        expect(then.next ?? Infinity).toBeGreaterThan(before);
        schedule = slot === undefined ? then : (fired(then, { slot, messages: [] }, now) ?? then);
      }
    }
  });
});

describe("the end of a slot", () => {
  it("keeps its messages, and the schedule rings at the next one", () => {
    const { schedule } = advanced(fire(aSchedule(), first));
    const messages = Array.from({ length: 200 }, (_, n) => childId(slotId(1, "u".repeat(24)), n));

    expect(fired(schedule, { slot: first, messages }, first + 5)).toMatchObject({
      version: 3,
      wakeAt: first + 10 * minuteMs,
      last: { slot: first, messages: messages.slice(0, 100) },
    });
  });

  it("changes no schedule without that slot under way", () => {
    expect(fired(aSchedule(), { slot: first, messages: [] }, first)).toBeUndefined();
  });
});

describe("the message of a slot", () => {
  it("is the message of the schedule, delayed from the slot on, and names the schedule", () => {
    const command = aScheduleCommand();
    const template = { ...command.template, delayMs: 5_000 };
    const schedule = newSchedule({ ...command, template }, aSchedule().id, "u", noon);

    expect(commandAt(schedule, first)).toMatchObject({
      body: schedule.body,
      schedule: schedule.id,
      postponement: { kind: "notBefore", at: first + 5_000 },
      headers: template.headers,
    });
    expect(commandAt(schedule, first)).not.toHaveProperty("delayMs");
    expect(commandAt(aSchedule(), first)).not.toHaveProperty("postponement");
  });

  it("has an id of the slot and the schedule, from which a group's children have theirs", () => {
    const id = slotId(7, "abcdefghijklmnopqrstuvwx");

    expect(id).toBe("msg_000000007abcdefghijklmnopq_s");
    expect(parentOf(childId(id, 40))).toEqual({ parent: id, index: 40 });
  });
});

function advanced(firing: Firing): Extract<Firing, { kind: "advance" }> {
  if (firing.kind !== "advance") throw new Error(`it is a ${firing.kind}`);
  return firing;
}
