import { expect, it } from "@jest/globals";
import { dice } from "@posthaste/testing";
import { createHeap } from "./heap.ts";

it("has the first of its items in front, in whatever order they come and go", () => {
  const chance = dice(1);
  const heap = createHeap<number>((a, b) => a - b);
  let held: readonly number[] = [];

  for (let step = 0; step < 2_000; step++) {
    if (chance.chance(0.6)) {
      const item = chance.integer(0, 100);
      heap.push(item);
      held = [...held, item].toSorted((a, b) => a - b);
    } else {
      heap.shift();
      held = held.slice(1);
    }
    expect(heap.first()).toBe(held[0]);
  }
});
