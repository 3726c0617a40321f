import { expect, it } from "@jest/globals";
import { isFault } from "../shared/fault.ts";
import { parseCron } from "./cron.ts";
import { nextSlot } from "./next-slot.ts";
import { isZone, stretchAt } from "./zone.ts";

/** Returns the zones that `Intl` is asked for while `work` runs. */
function looksDuring(work: () => void): readonly string[] {
  const looks: string[] = [];
  const original = Intl.DateTimeFormat;
  const watched = new Proxy(original, {
    construct: (target, [locales, options]: [string, Intl.DateTimeFormatOptions]) => {
      looks.push(String(options.timeZone));
      return new target(locales, options);
    },
  });
  Object.assign(Intl, { DateTimeFormat: watched });
  try {
    work();
  } finally {
    Object.assign(Intl, { DateTimeFormat: original });
  }
  return looks;
}

it("however a zone's name is spelled, it is looked up once for each of its years", () => {
  const name = "America/Argentina/Rio_Gallegos";
  const spellings = Array.from({ length: 500 }, (_, n) =>
    [...name].map((letter, at) => ((n >> (at % 9)) & 1 ? letter.toUpperCase() : letter)).join(""),
  );

  const looks = looksDuring(() => {
    for (const spelled of spellings) {
      expect(isZone(spelled)).toBe(true);
      for (const year of [2026, 2027])
        expect(stretchAt(spelled, Date.UTC(year, 5, 1)).offsetMs).toBe(-3 * 3_600_000);
    }
  });

  expect(new Set(spellings).size).toBeGreaterThan(100);
  expect(looks).toHaveLength(3);
});

it("all names that Intl lists are zones", () => {
  expect(Intl.supportedValuesOf("timeZone").filter((name) => !isZone(name))).toEqual([]);
});

it.each([
  ["0 0 31 2 *", 0],
  ["0 0 29 2 *", 1],
  ["0 0 1 1 *", 2],
])("years without a slot of %s are not looked up", (fields, yearsMax) => {
  const cron = parseCron(`TZ=Antarctica/Vostok ${fields}`);
  if (isFault(cron)) throw new Error(cron.text);

  const looks = looksDuring(() => nextSlot(cron, Date.UTC(2041, 2, 1)));

  expect(looks.length).toBeLessThanOrEqual(yearsMax);
});
