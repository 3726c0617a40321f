import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseDuration } from "./duration.ts";

describe("a duration", () => {
  it.each([
    ["10s", 10_000],
    ["0s", 0],
    ["10m5s", 605_000],
    ["1d", 86_400_000],
    ["1d10h30m", 124_200_000],
    ["1h30m3s", 5_403_000],
    ["30", 30_000],
    ["0", 0],
    ["1.5s", 1_500],
    ["1.5", 1_500],
    ["1.1", 1_100],
    ["0.0001s", 0],
    ["1h1h", 7_200_000],
    ["999999999s", 999_999_999_000],
  ])("%j is %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    "", " ", "-1s", "+1s", "1.5h", "1.s", ".5s", "1.5.5s", "1m1.5s", "1w", " 1s", "1s ", "1 s", "s", "1S", "1ms", "1s2", "2s1", "abc", "1000000000s", "1000000000",
    "9".repeat(100_000), "1s".repeat(33), "1s".repeat(100_000), "１s", "0x1s", "1e3s", "Infinity", "NaN",
  ])("%.20j is no duration", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  }); // oxfmt-ignore

  it("of any text is none or a whole number of milliseconds", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^([0-9]{1,9}[smhd]){0,6}$/),
    );
    const holds = fc.property(texts, (text) => {
      const ms = parseDuration(text);
      return ms === undefined || (Number.isInteger(ms) && ms >= 0);
    });

    fc.assert(holds, { seed: 1, numRuns: 2_000 });
  });
});
