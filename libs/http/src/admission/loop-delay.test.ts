import { describe, expect, it } from "@jest/globals";
import { virtualClock } from "@posthaste/testing";
import { systemClock } from "@posthaste/process";
import { createLoopDelay } from "./admission.ts";

describe("the event loop's delay", () => {
  it("shows for how long the loop was blocked, once", async () => {
    const clock = systemClock();
    const delay = createLoopDelay(clock);

    delay.watch();
    const until = performance.now() + 350;
    while (performance.now() < until);
    await new Promise<void>((resolve) => clock.after(1, resolve));

    expect(delay.takeMs()).toBeGreaterThanOrEqual(200);
    expect(delay.takeMs()).toBe(0);
    delay.close();
  });

  it("is watched while it is wanted, and costs no timer afterwards", async () => {
    const clock = virtualClock();
    const delay = createLoopDelay(clock);
    expect(clock.armed).toBe(0);

    delay.watch();
    await clock.advance(50);
    delay.watch();
    await clock.advance(100);
    expect(clock.armed).toBe(1);

    await clock.advance(100);
    expect(clock.armed).toBe(0);
  });
});
