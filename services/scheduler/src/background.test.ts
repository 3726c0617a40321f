import { describe, expect, it } from "@jest/globals";
import { laneId } from "@posthaste/domain";
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
      const work = new BackgroundWork({ log, grant: async () => void looks++ });

      work.grant(lane);
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      work.grant(lane);
      await work.settled();

      expect(looks).toBe(2);
    },
  );

  it("grants a lane that is asked for many times at once, while it is granted, only once more", async () => {
    let looks = 0;
    const work = new BackgroundWork({ log, grant: async () => void looks++ });

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
    const work = new BackgroundWork({ log, grant });

    work.grant(lane);
    await work.settled();
    work.grant(lane);
    await work.settled();

    expect(looks).toBe(2);
  });

  it("runs one task of a name at a time, and the next when it has ended", async () => {
    let runs = 0;
    const work = new BackgroundWork({ log, grant: async () => undefined });
    const task = async (): Promise<void> => void runs++;

    work.run("sweep", task);
    work.run("sweep", task);
    await work.settled();
    work.run("sweep", task);
    await work.settled();

    expect(runs).toBe(2);
  });
});
