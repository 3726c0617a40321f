import { describe, expect, it } from "@jest/globals";
import {
  answered,
  atStart,
  connected,
  type Down,
  failed,
  type Health,
  lost,
  pauseMs,
  type Up,
} from "./health.ts";

const up = connected(atStart);
const failing = (health: Up, times: number): Health => {
  let now: Health = health;
  for (let i = 0; i < times; i++) if (now.kind === "up") now = failed(now, now, "no answer");
  return now;
};
const downAfter = (times: number): Down => {
  let now = atStart;
  for (let i = 0; i < times; i++) now = lost(now, "refused");
  return now;
};

describe("the breaker", () => {
  it("lets calls through until three in a row have failed, and says why not any more", () => {
    expect(failing(up, 2)).toMatchObject({ kind: "up" });
    expect(failing(up, 3)).toMatchObject({
      kind: "down",
      reason: "3 calls in a row failed: no answer",
    });
  });

  it("begins to count anew with each answer", () => {
    const twice = failing(up, 2);
    if (twice.kind !== "up") throw new Error("two are not three");

    expect(failing(answered(twice), 2)).toMatchObject({ kind: "up" });
  });

  it("counts calls once that were under way together", () => {
    let now: Health = up;
    for (let i = 0; i < 10; i++) if (now.kind === "up") now = failed(now, up, "no answer");

    expect(now).toEqual({ ...up, failures: 1 });
  });

  it("does not count a call that failed after a later one was answered", () => {
    const once = failing(up, 1);
    if (once.kind !== "up") throw new Error("one is not three");

    expect(failed(answered(once), once, "no answer")).toEqual(answered(once));
  });

  it("waits longer from try to try, and never longer than a second", () => {
    expect([1, 2, 3, 4, 5, 6, 7, 100].map((tries) => pauseMs(downAfter(tries)))).toEqual([
      50, 100, 200, 400, 800, 1_000, 1_000, 1_000,
    ]);
  });

  it("waits as long as before when a connection brought no answer, and briefly after one that did", () => {
    const before = downAfter(5);
    const fruitless = lost(connected(before), "closed");
    const fruitful = lost(answered(connected(before)), "closed");

    expect(pauseMs(fruitless)).toBe(1_000);
    expect(pauseMs(fruitful)).toBe(50);
  });
});
