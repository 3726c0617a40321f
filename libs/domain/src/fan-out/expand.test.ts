import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { aFanOut, someEndpoints } from "@posthaste/testing";
import { childId } from "../shared/ids.ts";
import { expand } from "./expand.ts";
import { type Expanding } from "./fan-out.ts";

const fanOutAt = (upTo: number, skipped: readonly number[] = []): Expanding => ({
  ...aFanOut({ endpointCount: 1_200, skipped }),
  state: { kind: "expanding", upTo },
});

describe("expanding a group publish", () => {
  it("makes up to 500 children at a time, in the order of the endpoints", () => {
    const endpoints = someEndpoints(1_200);

    const batches = [0, 500, 1_000].map((upTo) => expand(fanOutAt(upTo), endpoints));

    expect(batches.map(({ children, upTo, done }) => [children.length, upTo, done])).toEqual([
      [500, 500, false],
      [500, 1_000, false],
      [200, 1_200, true],
    ]);
    expect(batches.flatMap(({ children }) => children.map(({ url }) => url))).toEqual(
      endpoints.map(({ url }) => url),
    );
  });

  it("passes over the endpoints that were duplicates, and keeps the ids of the others", () => {
    const fanOut = fanOutAt(0, [0, 2]);

    const { children, done } = expand(fanOut, someEndpoints(4));

    expect(children.map(({ id }) => id)).toEqual([1, 3].map((index) => childId(fanOut.id, index)));
    expect(done).toBe(true);
  });

  it("of a group without endpoints is done at once", () => {
    expect(expand(fanOutAt(0), [])).toEqual({ children: [], upTo: 0, done: true });
  });

  it("makes every child that is not skipped exactly once, wherever it was interrupted", () => {
    const holds = fc.property(
      fc.nat(1_200),
      fc.uniqueArray(fc.nat(1_199), { maxLength: 30 }),
      (count, skipped) => {
        const fanOut = fanOutAt(0, skipped);
        const endpoints = someEndpoints(count);
        const ids: string[] = [];
        let upTo = 0;
        for (let round = 0; round < 10; round++) {
          const batch = expand({ ...fanOut, state: { kind: "expanding", upTo } }, endpoints);
          ids.push(...batch.children.map(({ id }) => id));
          upTo = batch.upTo;
          if (batch.done) break;
        }
        const wanted = endpoints.flatMap((_, index) =>
          skipped.includes(index) ? [] : [childId(fanOut.id, index)],
        );
        expect(ids).toEqual(wanted);
      },
    );

    fc.assert(holds, { seed: 1, numRuns: 30 });
  });
});
