import { describe, expect, it } from "@jest/globals";
import { type Clock } from "@posthaste/ports";
import { Deadlines } from "./deadlines.ts";

/** A clock that a test advances, to the millisecond. Records each wait asked for. */
class SteppedClock implements Clock {
  at = 0;
  readonly waits: number[] = [];
  armed: { readonly at: number; readonly task: () => void } | undefined;

  now(): number {
    throw new Error("deadlines go by what has passed");
  }

  passedMs(): number {
    return this.at;
  }

  setAheadMs(): number {
    return 0;
  }

  after(ms: number, task: () => void): () => void {
    expect(this.armed).toBeUndefined();
    this.waits.push(ms);
    this.armed = { at: this.at + ms, task };
    return () => (this.armed = undefined);
  }

  /** Runs the timer armed for an earlier time only now. */
  wakeLateAt(at: number): void {
    const { armed } = this;
    this.armed = undefined;
    this.at = at;
    armed?.task();
  }

  advanceTo(at: number): void {
    while (this.armed !== undefined && this.armed.at <= at) {
      const { armed } = this;
      this.armed = undefined;
      this.at = armed.at;
      armed.task();
    }
    this.at = at;
  }
}

describe("deadlines", () => {
  const setUp = () => {
    const clock = new SteppedClock();
    const deadlines = new Deadlines(clock);
    const expired: [at: number, when: number][] = [];
    const add = (at: number) => {
      const deadline = { at, expire: () => void expired.push([at, clock.passedMs()]) };
      deadlines.add(deadline);
      return deadline;
    };
    return { clock, deadlines, expired, add };
  };

  it("expire once each, never early and at most 50 ms late, on one timer", () => {
    const { clock, expired, add } = setUp();
    const times = [5_000, 3, 100, 101, 110, 119, 59_999, 100, 2_500];
    for (const at of times) add(at);

    clock.advanceTo(120_000);

    expect(expired.map(([at]) => at).toSorted((a, b) => a - b)).toEqual(
      times.toSorted((a, b) => a - b),
    );
    for (const [at, when] of expired) {
      expect(when).toBeGreaterThanOrEqual(at);
      expect(when - at).toBeLessThanOrEqual(50);
    }
    expect(clock.armed).toBeUndefined();
  });

  it("that are removed do not expire, and cost no timer of their own", () => {
    const { clock, deadlines, expired, add } = setUp();

    for (let call = 0; call < 1_000; call++) deadlines.remove(add(30_000 + call));
    clock.advanceTo(60_000);

    expect(expired).toEqual([]);
    expect(clock.waits).toEqual([30_000]);
  });

  it("months away expire in time, with no timer above an hour", () => {
    const { clock, expired, add } = setUp();
    const at = 40 * 86_400_000;
    add(at);

    clock.advanceTo(at);

    expect(expired).toEqual([[at, at]]);
    expect(Math.max(...clock.waits)).toBe(3_600_000);
  });

  it("do not expire before a process that was held up had a turn to read its sockets", () => {
    const { clock, expired, add } = setUp();
    add(1_000);

    clock.wakeLateAt(5_000);
    expect(expired).toEqual([]);
    clock.advanceTo(5_050);

    expect(expired).toEqual([[1_000, 5_020]]);
  });

  it("expire all the same when the process is held up again and again", () => {
    const { clock, expired, add } = setUp();
    add(1_000);

    clock.wakeLateAt(5_000);
    clock.wakeLateAt(6_000);
    expect(expired).toEqual([[1_000, 6_000]]);
    add(7_000);
    clock.wakeLateAt(8_000);
    clock.wakeLateAt(9_000);

    expect(expired.at(-1)).toEqual([7_000, 9_000]);
  });

  it("expire the earliest first", () => {
    const { clock, expired, add } = setUp();
    for (const at of [110, 100, 105]) add(at);

    clock.advanceTo(99);
    clock.wakeLateAt(190);

    expect(expired.map(([at]) => at)).toEqual([100, 105, 110]);
  });

  it("may be added while others expire", () => {
    const { clock, expired, deadlines, add } = setUp();
    deadlines.add({ at: 100, expire: () => void add(200) });

    clock.advanceTo(1_000);

    expect(expired).toEqual([[200, 200]]);
  });

  it("are forgotten with their timer on closing", () => {
    const { clock, deadlines, expired, add } = setUp();
    add(100);

    deadlines.close();
    clock.advanceTo(1_000);

    expect(clock.armed).toBeUndefined();
    expect(expired).toEqual([]);
  });
});
