import { describe, expect, it } from "@jest/globals";
import { type VirtualClock, virtualClock } from "@posthaste/testing";
import { watch } from "./watchdog.ts";

const minuteMs = 60_000;

describe("a group that stalls", () => {
  it("for a minute, while the brokers answer, is reported once", async () => {
    const watched = watching({});

    await watched.clock.advance(10 * minuteMs);

    expect(watched.reports()).toBe(1);
  });

  it("for less than a minute is not reported", async () => {
    const watched = watching({});

    for (let i = 0; i < 10; i++) {
      await watched.clock.advance(minuteMs - 10_000);
      watched.work();
    }

    expect(watched.reports()).toBe(0);
  });

  it("because the brokers are away is not reported, nor soon after they are back", async () => {
    const watched = watching({ isUp: false });
    await watched.clock.advance(10 * minuteMs);

    watched.comeUp();
    await watched.clock.advance(minuteMs - 10_000);

    expect(watched.reports()).toBe(0);
  });

  it("is not reported when no broker answers to a question", async () => {
    const watched = watching({ answers: false });

    await watched.clock.advance(10 * minuteMs);

    expect(watched.reports()).toBe(0);
  });

  it("is not reported any more without a listener", async () => {
    const watched = watching({});

    watched.stop();
    await watched.clock.advance(10 * minuteMs);

    expect(watched.reports()).toBe(0);
    expect(watched.clock.armed).toBe(0);
  });
});

type Watching = {
  readonly clock: VirtualClock;
  readonly work: () => void;
  readonly comeUp: () => void;
  readonly reports: () => number;
  readonly stop: () => void;
};

function watching(given: { isUp?: boolean; answers?: boolean }): Watching {
  const clock = virtualClock();
  let [progress, reports, up] = [0, 0, given.isUp ?? true];
  const stop = watch({
    clock,
    progress: () => progress,
    isUp: () => up,
    answers: async () => given.answers ?? true,
    stalled: () => reports++,
  });
  return {
    clock,
    work: () => progress++,
    comeUp: () => {
      up = true;
    },
    reports: () => reports,
    stop,
  };
}
