import { describe, expect, it } from "@jest/globals";
import { Loop } from "./loop.ts";

function aLoop() {
  let waiting = 0;
  let steps = 0;
  const loop = new Loop({
    hasWork: () => waiting > 0,
    step: async () => {
      waiting -= 1;
      steps += 1;
    },
  });
  return {
    loop,
    bring: () => {
      waiting += 1;
      loop.wake();
    },
    get steps() {
      return steps;
    },
  };
}

describe("a loop", () => {
  // Between the last look and the end of a run there are several turns of the microtask queue.
  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    "does what is brought %i turns after its run began, without being woken again",
    async (turns) => {
      const subject = aLoop();

      subject.bring();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      subject.bring();
      await subject.loop.ended();

      expect(subject.steps).toBe(2);
    },
  );

  it("takes one step at a time", async () => {
    let running = 0;
    let runningMost = 0;
    let waiting = 5;
    const step = async (): Promise<void> => {
      waiting -= 1;
      runningMost = Math.max(runningMost, ++running);
      await Promise.resolve();
      running -= 1;
    };
    const loop = new Loop({ hasWork: () => waiting > 0, step });

    loop.wake();
    loop.wake();
    await loop.ended();

    expect({ runningMost, waiting }).toEqual({ runningMost: 1, waiting: 0 });
  });

  it("does nothing when nothing was brought", async () => {
    const subject = aLoop();

    subject.loop.wake();
    await subject.loop.ended();

    expect(subject.steps).toBe(0);
  });
});
