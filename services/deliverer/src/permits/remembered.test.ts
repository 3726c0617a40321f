import { describe, expect, it } from "@jest/globals";
import { Remembered } from "./remembered.ts";

type Count = { n: number };
const open = (idleMax: number): Remembered<number, Count> =>
  new Remembered(
    idleMax,
    () => ({ n: 0 }),
    ({ n }) => n === 0,
  );

describe("a value remembered by key", () => {
  it("is kept while it is busy, however many others come", () => {
    const counts = open(10);
    const busy = counts.of(0);
    busy.n = 1;

    for (let key = 1; key < 1_000; key++) counts.of(key);

    expect(counts.of(0)).toBe(busy);
  });

  it("is bounded while it is idle", () => {
    const counts = open(10);

    for (let key = 0; key < 1_000; key++) counts.of(key);

    expect(counts.size).toBeLessThanOrEqual(10);
    expect(counts.known(0)).toBeUndefined();
  });

  it("costs each newcomer a bounded number of looks when all are busy", () => {
    let looks = 0;
    const counts = new Remembered<number, Count>(
      10,
      () => ({ n: 1 }),
      ({ n }) => (looks++, n === 0),
    );

    for (let key = 0; key < 10_000; key++) counts.of(key);

    expect(looks).toBeLessThan(20_000);
  });
});
