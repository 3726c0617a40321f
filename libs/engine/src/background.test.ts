import { describe, expect, it } from "@jest/globals";
import { laneId } from "@posthaste/domain";
import { virtualClock } from "@posthaste/testing";
import { BackgroundWork } from "./background.ts";

const lane = laneId("flow:t:key");
const ignore = (): void => undefined;
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore, debugs: false };

describe("background work", () => {
  // A grant has several turns of the microtask queue between its last look at the line and its end.
  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    "grants again when asked %i turns after a grant began",
    async (turns) => {
      let looks = 0;
      const work = new BackgroundWork({
        log,
        clock: virtualClock(),
        grant: async () => void looks++,
      });

      work.grant(lane);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      work.grant(lane);
      await work.settled();

      expect(looks).toBe(2);
    },
  );

  it("grants a lane that is asked for many times at once, while it is granted, only once more", async () => {
    let looks = 0;
    const work = new BackgroundWork({
      log,
      clock: virtualClock(),
      grant: async () => void looks++,
    });

    for (let i = 0; i < 100; i++) work.grant(lane);
    await work.settled();

    expect(looks).toBe(2);
  });

  it("grants again after a grant has failed", async () => {
    let looks = 0;
    const grant = async (): Promise<void> => {
      looks++;
      throw new Error("the store is away");
    };
    const clock = virtualClock();
    const work = new BackgroundWork({ log, clock, grant });

    work.grant(lane);
    await work.settled();
    await clock.advance(1_000);
    await work.settled();
    expect(looks).toBe(2);

    await work.stop();
    await clock.advance(60_000);
    expect(looks).toBe(2);
  });

  it("gives a name back when its task hangs", async () => {
    const clock = virtualClock();
    let runs = 0;
    const work = new BackgroundWork({ log, clock, grant: async () => undefined });
    const hangs = (): Promise<void> => (runs++, new Promise(() => undefined));

    work.run("expand", hangs);
    await clock.advance(60_000);
    await work.settled();
    work.run("expand", hangs);

    expect(runs).toBe(2);
  });

  it("has room until a thousand tasks run", async () => {
    const work = new BackgroundWork({ log, clock: virtualClock(), grant: async () => undefined });
    const ends: (() => void)[] = [];
    const waits = (): Promise<void> => new Promise((resolve) => ends.push(resolve));

    for (let i = 0; i < 999; i++) work.run(`task ${i}`, waits);
    expect(work.hasRoom).toBe(true);
    work.run("one more", waits);
    expect(work.hasRoom).toBe(false);

    for (const end of ends) end();
    await work.settled();
    expect(work.hasRoom).toBe(true);
  });

  it("runs one task of a name at a time, and the next when it has ended", async () => {
    let runs = 0;
    const work = new BackgroundWork({ log, clock: virtualClock(), grant: async () => undefined });
    const task = async (): Promise<void> => void runs++;

    work.run("sweep", task);
    work.run("sweep", task);
    await work.settled();
    work.run("sweep", task);
    await work.settled();

    expect(runs).toBe(2);
  });
});
