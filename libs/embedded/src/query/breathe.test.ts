import { expect, it } from "@jest/globals";
import { createBreathe } from "./breathe.ts";

it("one of many lists continues after each turn of the event loop, in their order, and each ends", async () => {
  const tasks: (() => void)[] = [];
  const breathe = createBreathe((task) => tasks.push(task));
  const steps: number[] = [];
  const walks = Array.from({ length: 5 }, async (_, walk) => {
    for (let step = 0; step < 3; step++) {
      await breathe();
      steps.push(walk);
    }
  });

  const perTurn: number[] = [];
  // Each turn runs what was scheduled before it, as the event loop does.
  while (tasks.length > 0) {
    const before = steps.length;
    for (const task of tasks.splice(0)) task();
    await new Promise((resolve) => setImmediate(resolve));
    perTurn.push(steps.length - before);
  }
  await Promise.all(walks);

  expect(perTurn).toEqual(Array(15).fill(1));
  expect(steps).toEqual([0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
});
