import { describe, expect, it } from "@jest/globals";
import { dice } from "@posthaste/testing";
import * as fc from "fast-check";
import { fault, isFault } from "../shared/fault.ts";
import { type Cron, isKnownCron, parseCron, storedCron } from "./cron.ts";
import { anyExpression } from "./expressions.fixture.ts";

const parsed = (text: string): Cron => {
  const cron = parseCron(text);
  if (isFault(cron)) throw new Error(cron.text);
  return cron;
};

const named =
  "must be five fields, or one of @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly";

/** Names without an area, and some of every other form. */
const namesOfDatabase = (
  "CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran " +
  "Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK " +
  "Singapore Turkey UCT UTC Universal W-SU WET Zulu utc gmt Europe/Kyiv US/Pacific US/East-Indiana Etc/GMT-14 Etc/UTC " +
  "America/Argentina/ComodRivadavia America/North_Dakota/New_Salem Antarctica/DumontDUrville Asia/Ust-Nera"
).split(" ");

const namesOfIntlAlone = (
  "ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST bst " +
  "SystemV/AST4 SystemV/PST8PDT systemv/est5"
).split(" ");

describe("a cron expression", () => {
  it.each([
    ["*/15 * * * *", "minute", [0, 15, 30, 45]],
    ["5/20 * * * *", "minute", [5, 25, 45]],
    ["0,30,0 * * * *", "minute", [0, 30]],
    ["10-20/5,1 * * * *", "minute", [1, 10, 15, 20]],
    ["0 9-17 * * *", "hour", [9, 10, 11, 12, 13, 14, 15, 16, 17]],
    ["0 0 * JAN,dec *", "month", [1, 12]],
    ["0 0 * mar-5 *", "month", [3, 4, 5]],
    ["0 0 * * MON-fri", "dayOfWeek", [1, 2, 3, 4, 5]],
    ["0 0 * * 7", "dayOfWeek", [0]],
    ["0 0 * * 5-7", "dayOfWeek", [0, 5, 6]],
    ["0 0 * * */2", "dayOfWeek", [0, 2, 4, 6]],
    ["0 0 * * 7/2", "dayOfWeek", [0]],
    ["?/15 * * * *", "minute", [0, 15, 30, 45]],
    ["0 0 ? * MON", "dayOfMonth", Array.from({ length: 31 }, (_, n) => n + 1)],
    ["0 0 1 * ?", "dayOfWeek", [0, 1, 2, 3, 4, 5, 6]],
  ] as const)("%s: %s is %j", (text, field, values) => {
    expect(parsed(text)[field].values).toEqual(values);
  });

  it.each([
    ["* * * * *", undefined],
    ["CRON_TZ=Europe/Berlin * * * * *", "Europe/Berlin"],
    ["TZ=Etc/GMT+5 \t * * * * *", "Etc/GMT+5"],
    ["  CRON_TZ=america/new_york * * * * *  ", "america/new_york"],
    ["CRON_TZ=Asia/Kolkata @daily", "Asia/Kolkata"],
    ...namesOfDatabase.map((name) => [`CRON_TZ=${name} * * * * *`, name] as const),
  ])("%p is of the zone %p", (text, zone) => {
    expect(parsed(text).zone).toBe(zone);
  });

  it.each([
    ["", "must be five fields: minute, hour, day of month, month, day of week"],
    ["* * * *", "must be five fields: minute, hour, day of month, month, day of week"],
    ["* * * * * *", "must be five fields: minute, hour, day of month, month, day of week"],
    ["@Daily", named],
    ["@every 1h", named],
    ["CRON_TZ=UTC @reboot", named],
    ["@daily *", named],
    ["CRON_TZ=UTC", "must be five fields: minute, hour, day of month, month, day of week"],
    [
      "CRON_TZ=Mars/Olympus * * * * *",
      'time zone: "Mars/Olympus" is not a name of the IANA database',
    ],
    ["CRON_TZ= * * * * *", 'time zone: "" is not a name of the IANA database'],
    ["TZ=+01:00 * * * * *", 'time zone: "+01:00" is not a name of the IANA database'],
    ...namesOfIntlAlone.map((name) => [
      `CRON_TZ=${name} * * * * *`,
      `time zone: "${name}" is not a name of the IANA database`,
    ]),
    ["60 * * * *", 'minute: "60" must be *, a number from 0 to 59, a range or a step'],
    ["* 24 * * *", 'hour: "24" must be *, a number from 0 to 23, a range or a step'],
    ["* * 0 * *", 'day of month: "0" must be *, a number from 1 to 31, a range or a step'],
    ["* * L * *", 'day of month: "L" must be *, a number from 1 to 31, a range or a step'],
    ["* * ?-5 * *", 'day of month: "?-5" must be *, a number from 1 to 31, a range or a step'],
    ["* * * 13 *", 'month: "13" must be *, a number from 1 to 12, a name, a range or a step'],
    ["* * * * 8", 'day of week: "8" must be *, a number from 0 to 7, a name, a range or a step'],
    [
      "* * * * MON#2",
      'day of week: "MON#2" must be *, a number from 0 to 7, a name, a range or a step',
    ],
    ["*/0 * * * *", 'minute: the step of "*/0" must be 1 or more'],
    ["30-10 * * * *", 'minute: "30-10" ends before it begins'],
    ["* * * * FRI-SUN", 'day of week: "FRI-SUN" ends before it begins'],
    ["1,,2 * * * *", 'minute: "" must be *, a number from 0 to 59, a range or a step'],
    ["*-5 * * * *", 'minute: "*-5" must be *, a number from 0 to 59, a range or a step'],
    ["-5 * * * *", 'minute: "-5" must be *, a number from 0 to 59, a range or a step'],
    ["1.5 * * * *", 'minute: "1.5" must be *, a number from 0 to 59, a range or a step'],
    ["0".repeat(257), "must be at most 256 characters"],
  ])("%p is refused", (text, why) => {
    expect(parseCron(text)).toEqual({ fault: "malformed", text: why });
  });

  it.each([
    ["@yearly", "0 0 1 1 *"],
    ["@annually", "0 0 1 1 *"],
    ["@monthly", "0 0 1 * *"],
    ["@weekly", "0 0 * * SUN"],
    ["@daily", "0 0 * * *"],
    [" @midnight ", "0 0 * * *"],
    ["@hourly", "0 * * * *"],
    ["TZ=Asia/Tokyo @daily", "TZ=Asia/Tokyo 0 0 * * *"],
    ["0 0 ? * ?", "0 0 * * *"],
    ["0 0 ?/2 * MON", "0 0 */2 * MON"],
  ])("%p is %p", (text, fields) => {
    expect(parsed(text)).toEqual(parsed(fields));
  });

  it("of a schedule that was made with an abbreviation keeps its meaning, and is refused for a new one", () => {
    const text = "CRON_TZ=BST 0 9 * * *";

    expect(isFault(parseCron(text))).toBe(true);
    expect(storedCron(text)).toEqual({ ...parsed("CRON_TZ=Asia/Dhaka 0 9 * * *"), zone: "BST" });
    expect(storedCron("CRON_TZ=Mars/X 0 9 * * *")).toEqual(parseCron("CRON_TZ=Mars/X 0 9 * * *"));
  });

  it("is cached once it was read, with any blanks, and never if it was refused", () => {
    expect(isKnownCron("3 1 4 1 5")).toBe(false);
    parsed("3 1 4 1 5");
    parseCron("61 1 4 1 5");

    expect(["3 1 4 1 5", " 3 1 4 1 5\t", "61 1 4 1 5"].map(isKnownCron)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("means the same as the original, whatever it is", () => {
    const roll = dice(7);
    for (let n = 0; n < 5_000; n++) {
      const { text, cron } = anyExpression(roll, roll.pick([undefined, "Asia/Tokyo"]));

      expect(parsed(text)).toEqual(cron);
    }
  });

  it("is read or refused by its field, whatever it is, and no field holds more than its numbers", () => {
    const token = fc.oneof(
      { arbitrary: fc.constantFrom(...pieces), weight: 6 },
      { arbitrary: fc.string({ unit: "binary", maxLength: 3 }), weight: 1 },
    );
    const item = fc.array(token, { maxLength: 8 }).map((parts) => parts.join(""));
    const field = fc.oneof(fc.constantFrom("*", "0", "1,2", "*/5", "1-5"), item);
    const fields = fc
      .tuple(fc.constantFrom("", "TZ=UTC ", "CRON_TZ="), field, field, field, field, field)
      .map(([zone, ...five]) => zone + five.join(" "));
    const text = fc.oneof(
      { arbitrary: fields, weight: 4 },
      { arbitrary: item, weight: 1 },
      { arbitrary: fc.tuple(item, fc.nat(300)).map(([one, n]) => one.repeat(n)), weight: 1 },
    );

    fc.assert(
      fc.property(text, (given) => {
        const cron = parseCron(given);
        if (given.length > 256) {
          // A longer text is not read.
          expect(cron).toEqual(fault("malformed", "must be at most 256 characters"));
        } else if (isFault(cron)) {
          expect(cron.text).toMatch(
            /^((time zone|minute|hour|day of month|month|day of week): |must be five fields)/,
          );
          expect(cron.text.length).toBeLessThanOrEqual(given.length + 100);
        } else {
          const { zone: _, ...of } = cron;
          for (const { values } of Object.values(of)) {
            expect(values.length).toBeGreaterThan(0);
            expect(values).toEqual([...new Set(values)].toSorted((a, b) => a - b));
            expect(values.at(-1)).toBeLessThan(60);
          }
        }
      }),
      { numRuns: fuzzRuns },
    );
  });
});

const fuzzRuns = Number(process.env["POSTHASTE_TEST_FUZZ_RUNS"] ?? 2_000);

const pieces = [
  ..."* / - , 0 1 7 31 59 60 99999999999 MON feb TZ= CRON_ UTC Europe/ ? L W # @ + 1e3 0x1".split(
    " ",
  ),
  "__proto__",
  "@daily",
  " ",
  "\t",
  "\0",
  "é",
  "\u2028",
];
