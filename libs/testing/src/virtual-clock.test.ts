import { describe, expect, it } from "@jest/globals";
import { epochStart, virtualClock, withOwnTimers } from "./virtual-clock.ts";

describe("a virtual clock", () => {
  it("stops until it is moved", async () => {
    const clock = virtualClock(1_000);
    await new Promise((resolve) => setImmediate(resolve));
    const before = clock.now();
    await clock.advance(5);

    expect([before, clock.now()]).toEqual([1_000, 1_005]);
    expect(virtualClock().now()).toBe(epochStart);
  });

  it("runs timers in the order of their time, then in the order of their arming, each at its own time", async () => {
    const clock = virtualClock(0);
    const ran: string[] = [];
    for (const [name, ms] of [
      ["b", 20],
      ["a", 10],
      ["c", 20],
      ["late", 31],
    ] as const) {
      clock.after(ms, () => ran.push(`${name} at ${clock.now()}`));
    }

    await clock.advance(30);

    expect(ran).toEqual(["a at 10", "b at 20", "c at 20"]);
    expect([clock.now(), clock.armed]).toEqual([30, 1]);
  });

  it("runs a timer that another timer arms, if it is due within the move", async () => {
    const clock = virtualClock(0);
    const ran: number[] = [];
    const again = (): void => {
      ran.push(clock.now());
      clock.after(10, again);
    };
    clock.after(10, again);

    await clock.advance(35);

    expect(ran).toEqual([10, 20, 30]);
  });

  it("lets the work of a timer finish before the next timer runs", async () => {
    const clock = virtualClock(0);
    const said: string[] = [];
    clock.after(10, () => {
      void (async () => {
        await Promise.resolve();
        await new Promise((resolve) => setImmediate(resolve));
        said.push("first is done");
      })();
    });
    clock.after(11, () => said.push("second"));

    await clock.advance(20);

    expect(said).toEqual(["first is done", "second"]);
  });

  it("does not run a timer that was called off", async () => {
    const clock = virtualClock(0);
    let ran = false;
    const callOff = clock.after(10, () => {
      ran = true;
    });
    callOff();
    callOff();
    await clock.advance(20);

    expect([ran, clock.armed]).toEqual([false, 0]);
  });

  it("runs until nothing is armed, but not for ever", async () => {
    const clock = virtualClock(0);
    clock.after(10, () => void clock.after(90, () => undefined));
    await clock.runUntilIdle(1_000);
    const endless = (): void => void clock.after(100, endless);

    expect([clock.now(), clock.armed]).toEqual([100, 0]);
    endless();
    await expect(clock.runUntilIdle(1_000)).rejects.toThrow(/still armed after 1000 ms/);
  });

  it("refuses a timer beyond an hour or before now, and to run backwards", async () => {
    const clock = virtualClock(0);

    expect(() => clock.after(3_600_001, () => undefined)).toThrow(/3600000/);
    expect(() => clock.after(-1, () => undefined)).toThrow(/-1 ms/);
    expect(() => clock.after(Number.NaN, () => undefined)).toThrow(/NaN/);
    expect(() => clock.advance(-1)).toThrow(/backwards/);
    clock.after(3_600_000, () => undefined);
    expect(clock.armed).toBe(1);
  });

  it("counts the timers of a view apart, until they have run or are cancelled", async () => {
    const clock = virtualClock(0);
    const view = withOwnTimers(clock);
    clock.after(1_000, () => undefined);
    view.after(10, () => undefined);
    const disarm = view.after(1_000, () => undefined);

    const before = view.armed;
    await view.advance(10);
    const after = [view.armed, view.now()];
    disarm();

    expect([before, after, view.armed, clock.armed]).toEqual([2, [1, 10], 0, 1]);
  });
});
