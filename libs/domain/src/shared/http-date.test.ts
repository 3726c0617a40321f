import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { parseHttpDate } from "./http-date.ts";

const now = Date.UTC(2026, 10, 26, 12);
const at = (text: string): number | undefined => parseHttpDate(text, now);

describe("a date of HTTP", () => {
  it.each([
    ["Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"],
    ["Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"],
    ["Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"],
    ["Thu Nov 26 00:00:00 2026", "2026-11-26T00:00:00Z"],
    ["Wednesday, 01-Jan-25 00:00:00 GMT", "2025-01-01T00:00:00Z"],
    ["Thu, 29 Feb 2024 23:59:59 GMT", "2024-02-29T23:59:59Z"],
    ["Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00Z"],
    ["Sat, 01 Jan 0050 00:00:00 GMT", "0050-01-01T00:00:00Z"],
  ])("%j is %s", (text, expected) => {
    expect(at(text)).toBe(Date.parse(expected));
  });

  it("with a wrong day of the week is still valid", () => {
    expect(at("Mon, 06 Nov 1994 08:49:37 GMT")).toBe(at("Sun, 06 Nov 1994 08:49:37 GMT"));
  });

  it.each([
    ["26", 2026],
    ["76", 2076],
    ["77", 1977],
    ["99", 1999],
    ["00", 2000],
  ])("of a year that ends with %s is of %d in 2026", (digits, year) => {
    expect(at(`Friday, 15-May-${digits} 00:00:00 GMT`)).toBe(Date.UTC(year, 4, 15));
  });

  it("is ahead up to the day in fifty years, and past after it", () => {
    expect(at("Thursday, 26-Nov-76 12:00:00 GMT")).toBe(Date.UTC(2076, 10, 26, 12));
    expect(at("Thursday, 26-Nov-76 12:00:01 GMT")).toBe(Date.UTC(1976, 10, 26, 12, 0, 1));
  });

  it("of the year 01 is of the next century where this one is nearly over", () => {
    expect(parseHttpDate("Friday, 15-May-01 00:00:00 GMT", Date.UTC(2099, 0))).toBe(
      Date.UTC(2101, 4, 15),
    );
  });

  it.each([
    "", "soon", "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37",
    "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000", "sun, 06 nov 1994 08:49:37 gmt",
    "Sun, 31 Feb 2026 00:00:00 GMT", "Sun, 00 Nov 2026 00:00:00 GMT", "Sun, 32 Jan 2026 00:00:00 GMT",
    "Sun, 29 Feb 2026 00:00:00 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
    "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT",
    "Sunday, 06 Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94",
    "Sun Nov  6 08:49:37 1994 GMT", "Foo, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Foo 1994 08:49:37 GMT",
    " Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT\n", "1994-11-06T08:49:37Z", "784111777",
  ])("is not %j", (text) => {
    expect(at(text)).toBeUndefined();
  }); // oxfmt-ignore

  it("is read as it was written, in each of the forms", () => {
    const shortDays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
    const longDays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    const [min, max] = [Date.UTC(1976, 10, 27) / 1_000, Date.UTC(2076, 10, 26) / 1_000];
    const seconds = fc.integer({ min, max });
    const holds = fc.property(seconds, (second) => {
      const date = new Date(second * 1_000);
      const fixed = date.toUTCString();
      const [, day = "", month = "", year = "", time = ""] = fixed.split(" ");
      const [short = "", long = ""] = [shortDays[date.getUTCDay()], longDays[date.getUTCDay()]];
      const all = [
        fixed,
        `${long}, ${day}-${month}-${year.slice(2)} ${time} GMT`,
        `${short} ${month} ${String(date.getUTCDate()).padStart(2)} ${time} ${year}`,
      ];
      return all.every((text) => at(text) === second * 1_000);
    });

    fc.assert(holds, { seed: 1, numRuns: 1_000 });
  });

  it("is a whole second or none, whatever the text", () => {
    const holds = fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.stringMatching(/^[A-Z][a-z]{2,8},? [ 0-9]\d[- ][A-Z][a-z]{2}[- ]\d{2,4} [0-9:]{8} GMT$/),
      ),
      fc.integer({ min: 0, max: 4e12 }),
      (text, anyTime) => {
        const parsed = parseHttpDate(text, anyTime);
        return parsed === undefined || (Number.isSafeInteger(parsed) && parsed % 1_000 === 0);
      },
    );

    fc.assert(holds, { seed: 1, numRuns: 2_000 });
  });
});
