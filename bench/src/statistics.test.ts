import { describe, expect, it } from "@jest/globals";
import { percentile, pooled, ratioSpread, spreadOf } from "./statistics.ts";

describe("spreadOf", () => {
  it("gives the middle round, the lowest and the highest", () => {
    expect(spreadOf([30, 10, 20])).toEqual({ median: 20, min: 10, max: 30 });
  });

  it("gives the mean of the two middle rounds when their number is even", () => {
    expect(spreadOf([4, 1, 3, 2])).toEqual({ median: 2.5, min: 1, max: 4 });
  });

  it("orders by value, not by text", () => {
    expect(spreadOf([100, 9, 20])).toEqual({ median: 20, min: 9, max: 100 });
  });

  it("is absent when nothing was measured", () => {
    expect(spreadOf([])).toBeUndefined();
  });
});

describe("percentile", () => {
  const oneToHundred = Float64Array.from({ length: 100 }, (_, index) => index + 1);

  it("is the value that the given share of the samples does not exceed", () => {
    expect(percentile(oneToHundred, 0.5)).toBe(50);
    expect(percentile(oneToHundred, 0.99)).toBe(99);
    expect(percentile(oneToHundred, 1)).toBe(100);
  });

  it("is the highest sample when there are too few to tell", () => {
    expect(percentile(Float64Array.of(1, 2, 7), 0.999)).toBe(7);
  });

  it("is not a number when there are no samples", () => {
    expect(percentile(new Float64Array(), 0.99)).toBeNaN();
  });
});

describe("pooled", () => {
  it("holds every sample of every round in ascending order", () => {
    expect([...pooled([Float64Array.of(3, 1), Float64Array.of(), Float64Array.of(2)])]).toEqual([
      1, 2, 3,
    ]);
  });
});

describe("ratioSpread", () => {
  it("compares each round with the same round of the other variant", () => {
    expect(ratioSpread([50, 200, 90], [100, 200, 100])).toEqual({ median: 0.9, min: 0.5, max: 1 });
  });

  it("leaves out the rounds that one of the two did not run", () => {
    expect(ratioSpread([50, 60], [100])).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
  });

  it("leaves out a round in which the other variant did nothing", () => {
    expect(ratioSpread([50, 50], [0, 100])).toEqual({ median: 0.5, min: 0.5, max: 0.5 });
  });
});
