import { describe, expect, it } from "@jest/globals";
import { epochStart, virtualClock } from "@posthaste/testing";
import { createStoreClock } from "./store-clock.ts";

const now = epochStart;

describe("the store's clock", () => {
  it("is the process's clock until the server has sent its time", () => {
    expect(createStoreClock(virtualClock()).now()).toBe(now);
  });

  it("takes the server's time for the middle of the call", () => {
    const clock = createStoreClock(virtualClock());

    clock.measured(now - 10, now + 5_000, now);

    expect(clock.now()).toBe(now + 5_005);
  });

  it("follows our clock between two measurements", async () => {
    const ours = virtualClock();
    const clock = createStoreClock(ours);
    clock.measured(now, now + 5_000, now);

    await ours.advance(700);

    expect(clock.now()).toBe(now + 5_700);
  });

  it("believes a quick answer more than a slow one, and every answer in the end", () => {
    const clock = createStoreClock(virtualClock());
    clock.measured(now - 2, now + 5_000, now);

    clock.measured(now - 400, now + 4_900, now);
    expect(clock.now()).toBe(now + 5_001);
    for (let heartbeat = 0; heartbeat < 200; heartbeat++)
      clock.measured(now - 400, now + 4_900, now);
    expect(clock.now()).toBe(now + 5_100);
  });

  it("believes a slow answer at once that contradicts it: the host slept, or the server's clock was set", () => {
    const clock = createStoreClock(virtualClock());
    clock.measured(now - 2, now + 5_000, now);

    clock.measured(now - 400, now + 65_000, now);

    expect(clock.now()).toBe(now + 65_200);
  });

  it("stops after the server's time was ahead, and never runs backwards", async () => {
    const ours = virtualClock();
    const clock = createStoreClock(ours);
    clock.measured(now, now + 1_000, now);
    expect(clock.now()).toBe(now + 1_000);

    clock.measured(now, now + 400, now);
    expect(clock.now()).toBe(now + 1_000);
    await ours.advance(600);
    expect(clock.now()).toBe(now + 1_000);
    await ours.advance(1);
    expect(clock.now()).toBe(now + 1_001);
  });

  it("follows a server whose clock was set back", () => {
    const clock = createStoreClock(virtualClock());
    clock.measured(now, now + 3_600_000, now);
    expect(clock.now()).toBe(now + 3_600_000);

    clock.measured(now, now, now);

    expect(clock.now()).toBe(now);
  });
});
