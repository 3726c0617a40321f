import { describe, expect, it } from "@jest/globals";
import { pause, type Pause } from "@posthaste/contract";
import { fault } from "@posthaste/domain";
import { inTurns } from "./turns.ts";

describe("work in turns", () => {
  it("lets others have theirs between two hundreds of items", async () => {
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    const longest: number[] = [];
    function* items(): Generator<number> {
      let since = 0;
      let seen = turns;
      for (let item = 0; item < 10_000; item++) {
        if (turns !== seen) [since, seen] = [0, turns];
        longest.push(++since);
        // Waits, so that the timer is due whenever the loop turns.
        if (item % 200 === 0) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
        yield item;
      }
    }

    const all = await inTurns(items());

    clearInterval(count);
    expect(all).toHaveLength(10_000);
    expect(Math.max(...longest)).toBeLessThan(1_000);
  });

  it("ends a turn at each pause, which is no item", async () => {
    const seen: string[] = [];
    function* items(): Generator<number | Pause> {
      seen.push("much");
      setImmediate(() => seen.push("another's turn"));
      yield pause;
      seen.push("much more");
      yield 1;
    }

    expect(await inTurns(items())).toEqual([1]);
    expect(seen).toEqual(["much", "another's turn", "much more"]);
  });

  it("ends with the first fault, and requests no item after it", async () => {
    const refused = fault("malformed", "endpoints[1]: no");
    const asked: number[] = [];
    function* items() {
      for (const item of [0, refused, 2]) {
        if (typeof item === "number") asked.push(item);
        yield item;
      }
    }

    expect(await inTurns(items())).toEqual(refused);
    expect(asked).toEqual([0]);
  });
});
