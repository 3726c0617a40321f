import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { epochStart as now } from "@posthaste/testing";
import { backoffMs, clampRetryDelayMs, requestedWaitMs } from "./retry.ts";

const dayMs = 86_400_000;
const wait = (value: string, name = "Retry-After") => requestedWaitMs([[name, value]], now);

describe("the default back-off", () => {
  it.each([
    [0, "12 s", 12],
    [1, "2 m 28 s", 148],
    [2, "30 m 8 s", 1_808],
    [3, "6 h 7 m 6 s", 22_026],
    [4, "24 h", 86_400],
    [5, "24 h", 86_400],
    [999, "24 h", 86_400],
  ])("after %d retries is %s", (retried, _, seconds) => {
    expect(Math.floor(backoffMs(retried, 0) / 1_000)).toBe(seconds);
  });

  it("is made longer by chance, by less than a second, and never shorter", () => {
    const holds = fc.property(
      fc.nat(1_000),
      fc.double({ min: 0, max: 0.999_999, noNaN: true }),
      (retried, chance) => {
        const jitter = backoffMs(retried, chance) - backoffMs(retried, 0);
        return Number.isInteger(backoffMs(retried, chance)) && jitter >= 0 && jitter <= 1_000;
      },
    );

    fc.assert(holds, { seed: 1 });
  });
});

describe("the value of a retry delay expression", () => {
  it.each([
    [1_000, 1_000],
    [0.5, 1],
    [0.4, 0],
    [-5, 0],
    [-0.2, 0],
    [1e300, dayMs],
    [Number.POSITIVE_INFINITY, dayMs],
    [Number.NEGATIVE_INFINITY, 0],
    [Number.NaN, 0],
  ])("%d is a delay of %d ms", (value, delayMs) => {
    expect(clampRetryDelayMs(value)).toBe(delayMs);
  });

  it("is always whole and from nothing to a day", () => {
    const holds = fc.property(fc.double(), (value) => {
      const delayMs = clampRetryDelayMs(value);
      return (
        Number.isInteger(delayMs) && delayMs >= 0 && delayMs <= dayMs && !Object.is(delayMs, -0)
      );
    });

    fc.assert(holds, { seed: 1, numRuns: 1_000 });
  });
});

describe("the wait that a destination requests", () => {
  it.each([
    ["0", 0],
    ["7", 7_000],
    [" 120 ", 120_000],
    ["86400", dayMs],
    ["0000000000120", 120_000],
    ["6m5s", 365_000],
    ["1.5s", 1_500],
    ["1h2m3s", 3_723_000],
    ["20ms", 20],
    ["1us", 1],
    ["1µs", 1],
    ["500ns", 1],
    ["0s", 0],
    ["24h", dayMs],
  ])("%j is %d ms", (value, expected) => {
    expect(wait(value)).toBe(expected);
  });

  it("may be a date of any form that HTTP has, of which the past means now", () => {
    const ahead = new Date(now + 90_000);
    const [weekday = "", day = "", month = "", year = "", time = ""] = ahead
      .toUTCString()
      .split(" ");
    const long = new Intl.DateTimeFormat("en", { weekday: "long", timeZone: "UTC" }).format(ahead);

    expect(wait(ahead.toUTCString())).toBe(90_000);
    expect(wait(`${long}, ${day}-${month}-${year.slice(2)} ${time} GMT`)).toBe(90_000);
    expect(wait(`${weekday.slice(0, 3)} ${month} ${day.replace(/^0/, " ")} ${time} ${year}`)).toBe(
      90_000,
    );
    for (const past of [
      new Date(now - 90_000).toUTCString(),
      "Sunday, 06-Nov-94 08:49:37 GMT",
      "Sun Nov  6 08:49:37 1994",
    ])
      expect(wait(past)).toBe(0);
  });

  it.each([
    "86401", "25h", "999999999", "9999999999", "-1", "+5", "1.5", "", " ", "soon", "5 s", "1d", "s", "1s2", "0x10", "１０",
    "Fri, 99 Foo 2026 00:00:00 GMT", "Sunday, 06-Nov-94 08:49:37 UTC", "Sun Nov 31 08:49:37 1994", `${"1s".repeat(40)}`,
    new Date(now + dayMs + 1_000).toUTCString(),
  ])("is not %j: more than a day, or nonsense, is ignored", (value) => {
    expect(wait(value)).toBeUndefined();
  }); // oxfmt-ignore

  it.each(["X-RateLimit-Reset", "x-ratelimit-reset-requests", "X-RATELIMIT-RESET-TOKENS"])(
    "may stand in %s",
    (name) => {
      expect(wait("3", name)).toBe(3_000);
    },
  );

  it("is taken from the first of the headers, in their order of precedence, that makes sense", () => {
    const headers = [
      ["x-ratelimit-reset-tokens", "4"],
      ["x-ratelimit-reset", "2"],
      ["retry-after", "soon"],
    ] as const;

    expect(requestedWaitMs(headers, now)).toBe(2_000);
    expect(requestedWaitMs([...headers, ["retry-after", "1"]], now)).toBe(2_000);
    expect(requestedWaitMs([["retry-after", "1"], ...headers], now)).toBe(1_000);
    expect(requestedWaitMs([], now)).toBeUndefined();
  });

  it("of any text is none or from 0 to a day", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.stringMatching(/^[0-9.]{0,12}(ns|us|ms|s|m|h)?([0-9]{1,3}[hms])*$/),
    );
    const holds = fc.property(texts, (text) => {
      const waitMs = wait(text);
      return waitMs === undefined || (waitMs >= 0 && waitMs <= dayMs);
    });

    fc.assert(holds, { seed: 1, numRuns: 2_000 });
  });
});
