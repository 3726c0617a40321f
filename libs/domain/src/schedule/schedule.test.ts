import { describe, expect, it } from "@jest/globals";
import { aCron, aScheduleCommand } from "@posthaste/testing";
import { ringAheadMs } from "../shared/limits.ts";
import { fired } from "./fire.ts";
import { aSchedule, hourMs, minuteMs, noon } from "./schedule.fixture.ts";
import { paused, replaced, resumed, type Schedule } from "./schedule.ts";

const later = noon + 3 * minuteMs;
const firing = (schedule: Schedule, slot: number): Schedule => ({
  ...schedule,
  next: slot + 10 * minuteMs,
  pending: slot,
  version: schedule.version + 1,
});

describe("a schedule", () => {
  it("fires first at the first slot after it was made, and has its alarm there", () => {
    expect(aSchedule()).toMatchObject({
      version: 1,
      isPaused: false,
      next: noon + 10 * minuteMs,
      wakeAt: noon + 10 * minuteMs,
      createdAt: noon,
      bodyBytes: 5,
    });
  });

  it("made at the instant of a slot fires at the next one", () => {
    expect(aSchedule("0 12 * * *").next).toBe(noon + 24 * hourMs);
  });

  it("has no alarm while it is paused, and skips the slots of the pause", () => {
    const resting = paused(aSchedule(), later);
    const again = resumed(resting, aCron("*/10 * * * *"), noon + hourMs + minuteMs);

    expect(resting).toMatchObject({ isPaused: true, version: 2, updatedAt: later });
    expect(resting).not.toHaveProperty("wakeAt");
    expect(again).toMatchObject({
      isPaused: false,
      version: 3,
      next: noon + hourMs + 10 * minuteMs,
      wakeAt: noon + hourMs + 10 * minuteMs,
    });
  });

  it("that is paused while a slot is under way still ends that slot", () => {
    const slot = noon + 10 * minuteMs;
    const resting = paused(firing(aSchedule(), slot), slot + 1);
    const ended = fired(resting, { slot, messages: [] }, slot + 2);

    expect(resting).toMatchObject({ pending: slot, wakeAt: slot + 1 + ringAheadMs });
    expect(ended).toMatchObject({ isPaused: true, last: { slot } });
    expect(ended).not.toHaveProperty("wakeAt");
    expect(ended).not.toHaveProperty("pending");
  });

  it("that is replaced keeps only its identity, its age and the slot under way", () => {
    const slot = noon + 10 * minuteMs;
    const current = {
      ...paused(firing(aSchedule(), slot), slot),
      last: { slot: noon, messages: [] },
    };
    const command = { ...aScheduleCommand("0 * * * *"), body: new Uint8Array() };

    expect(replaced(current, command, slot + 1)).toEqual({
      ...current,
      cron: "0 * * * *",
      template: command.template,
      body: command.body,
      bodyBytes: 0,
      isPaused: false,
      next: noon + hourMs,
      wakeAt: slot + 1 + ringAheadMs,
      updatedAt: slot + 1,
      version: current.version + 1,
    });
  });

  it("continues after the last slot when the clock has been set back", () => {
    const slot = noon + hourMs;
    const done = { ...aSchedule(), last: { slot, messages: [] } };

    expect(replaced(done, aScheduleCommand(), noon).next).toBe(slot + 10 * minuteMs);
    expect(resumed(done, aCron("*/10 * * * *"), noon).next).toBe(slot + 10 * minuteMs);
    expect(replaced(firing(done, slot + 10 * minuteMs), aScheduleCommand(), noon).next).toBe(
      slot + 20 * minuteMs,
    );
  });

  it("that has nothing left to fire has no alarm", () => {
    // The next 29th of February that is a Sunday is 28 years away.
    const over = replaced(aSchedule(), aScheduleCommand("0 0 29 2 */7"), Date.UTC(2032, 2, 1));

    expect(over).not.toHaveProperty("next");
    expect(over).not.toHaveProperty("wakeAt");
  });
});
