import { describe, expect, it } from "@jest/globals";
import { type AlarmSource, alarmSources } from "@posthaste/domain";
import fc from "fast-check";
import { Timetable } from "./timetable.ts";

describe("a timetable", () => {
  it.each<[string, readonly [AlarmSource, number][], readonly AlarmSource[], number]>([
    ["nothing is noted", [], [], Infinity],
    ["one source is due", [["record", 10]], ["record"], Infinity],
    ["one is due and one is not", [["record", 10], ["run", 11]], ["record"], 11],
    ["one is brought forward", [["record", 20], ["record", 10]], ["record"], Infinity],
    ["one is noted for later, too", [["record", 10], ["record", 20]], ["record"], Infinity],
  ])("when %s", (_, noted, due, next) => {
    const timetable = new Timetable();
    for (const [source, time] of noted) timetable.bringForward([source], time);

    expect(timetable.take(alarmSources, 10)).toEqual(due);
    expect(timetable.next(alarmSources)).toBe(next);
  }); // oxfmt-ignore

  it("keeps an alarm that is brought forward while its source is being read", () => {
    const timetable = new Timetable();
    timetable.bringForward(["record"], 10);
    timetable.take(alarmSources, 10);

    timetable.bringForward(["record"], 12);
    timetable.bringForward(["record"], 30_010);

    expect(timetable.next(alarmSources)).toBe(12);
  });

  it("keeps the time of a source that may not ring now", () => {
    const timetable = new Timetable();
    timetable.bringForward(["record", "followUp"], 10);

    expect(timetable.take(["record"], 20)).toEqual(["record"]);
    expect(timetable.next(["record"])).toBe(Infinity);
    expect(timetable.take(alarmSources, 20)).toEqual(["followUp"]);
  });

  it("has each source looked at by the first time for which it was noted since, and no other", () => {
    const source = fc.constantFrom(...alarmSources);
    const steps = fc.array(
      fc.record({ source, aheadMs: fc.nat(50), passMs: fc.nat(20), isWake: fc.boolean() }),
    );
    fc.assert(
      fc.property(steps, (played) => {
        const timetable = new Timetable();
        const noted = new Map<AlarmSource, readonly number[]>();
        let now = 0;
        for (const { source: one, aheadMs, passMs, isWake } of played) {
          if (isWake) {
            timetable.bringForward([one], now + aheadMs);
            noted.set(one, [...(noted.get(one) ?? []), now + aheadMs]);
            continue;
          }
          now += passMs;
          const due = alarmSources.filter((each) => noted.get(each)?.some((time) => time <= now));
          expect(timetable.take(alarmSources, now)).toEqual(due);
          for (const each of due) noted.delete(each);
          expect(timetable.next(alarmSources)).toBe(Math.min(...[...noted.values()].flat()));
        }
      }),
    );
  });
});
