import { expect, it } from "@jest/globals";
import { byNearness, isNear, shareOf } from "./limits.ts";

const used = (name: string, count: number, most: number) => ({
  name,
  used: count,
  most,
  setting: "x",
});

it("the value nearest to its limit comes first, and is near from four fifths on", () => {
  const all = [used("far", 1, 10), used("near", 8, 10), used("over", 12, 10), used("none", 5, 0)];

  expect(byNearness(all).map(({ name }) => name)).toEqual(["over", "near", "far", "none"]);
  expect(all.map(isNear)).toEqual([false, true, true, false]);
  expect(shareOf(used("over", 12, 10))).toBe(1);
});
