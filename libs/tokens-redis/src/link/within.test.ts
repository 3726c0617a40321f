import { describe, expect, it } from "@jest/globals";
import { type Clock } from "@posthaste/ports";
import { virtualClock } from "@posthaste/testing";
import { within } from "./within.ts";

describe("a wait with a bound", () => {
  it("ends with the answer, and leaves no timer behind", async () => {
    const clock = virtualClock();

    expect(await within(clock, 50, Promise.resolve("answer"))).toBe("answer");
    expect(clock.armed).toBe(0);
  });

  it("ends with the failure of what was waited for, and leaves no timer behind", async () => {
    const clock = virtualClock();

    await expect(within(clock, 50, Promise.reject(new Error("refused")))).rejects.toThrow(
      "refused",
    );
    expect(clock.armed).toBe(0);
  });

  it("ends when its time is over, and not before", async () => {
    const clock = virtualClock();
    let ended = false;
    const wait = within(clock, 50, new Promise(() => undefined)).finally(() => (ended = true));
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
      after: (_ms, task) => {
        ring = task;
        return () => undefined;
      },
    };
    const { promise, resolve } = Promise.withResolvers<string>();
    const wait = within(clock, 50, promise);

    // Timers run before what has come in is read.
    ring();
    resolve("answer");

    expect(await wait).toBe("answer");
  });
});
