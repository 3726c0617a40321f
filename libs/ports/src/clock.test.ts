import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { type Clock, pause, within } from "./clock.ts";

const late = (): Error => new Error("no answer within 50 ms");

describe("a wait with a bound", () => {
  it("ends with the answer, and leaves no timer behind", async () => {
    const clock = virtualClock();

    expect(await within(clock, 50, Promise.resolve("answer"), late)).toBe("answer");
    expect(clock.armed).toBe(0);
  });

  it("ends with the failure of the awaited promise, and leaves no timer behind", async () => {
    const clock = virtualClock();

    await expect(within(clock, 50, Promise.reject(new Error("refused")), late)).rejects.toThrow(
      "refused",
    );
    expect(clock.armed).toBe(0);
  });

  it("ends when its time is over, and not before", async () => {
    const clock = virtualClock();
    let ended = false;
    const wait = within(clock, 50, new Promise(() => undefined), late).finally(
      () => (ended = true),
    );
    const rejected = expect(wait).rejects.toThrow("no answer within 50 ms");

    await clock.advance(49);
    expect(ended).toBe(false);
    await clock.advance(1);
    await rejected;
  });

  it("takes an answer that has come in while the process itself was held up", async () => {
    let ring = (): void => undefined;
    const clock: Clock = {
      now: () => 0,
      passedMs: () => 0,
      setAheadMs: () => 0,
      after: (_ms, task) => {
        ring = task;
        return () => undefined;
      },
    };
    const { promise, resolve } = Promise.withResolvers<string>();
    const wait = within(clock, 50, promise, late);

    // Timers run before incoming data is read.
    ring();
    resolve("answer");

    expect(await wait).toBe("answer");
  });
});

describe("a pause", () => {
  it("ends as soon as its signal aborts, and leaves no timer behind", async () => {
    const clock = virtualClock();
    const stop = new AbortController();
    const pausing = pause(clock, 1_000, stop.signal);

    stop.abort();

    await pausing;
    expect(clock.armed).toBe(0);
  });
});
