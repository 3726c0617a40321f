import { describe, expect, it } from "@jest/globals";
import { dice, type Dice } from "@posthaste/testing";
import { isFault } from "../shared/fault.ts";
import { type Cron, parseCron } from "./cron.ts";
import { anyExpression } from "./expressions.fixture.ts";
import { nextSlot } from "./next-slot.ts";
import { minutesOf, slotsAmong, wallClock } from "./oracle.fixture.ts";

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

const parsed = (text: string): Cron => {
  const cron = parseCron(text);
  if (isFault(cron)) throw new Error(cron.text);
  return cron;
};

function slotsBetween(cron: Cron, from: number, until: number): readonly number[] {
  const slots: number[] = [];
  let slot = nextSlot(cron, from - 1);
  while (slot !== undefined && slot < until) {
    slots.push(slot);
    slot = nextSlot(cron, slot);
  }
  return slots;
}

const slots = (text: string, from: string, until: string): readonly string[] =>
  slotsBetween(parsed(text), Date.parse(from), Date.parse(until)).map((slot) =>
    new Date(slot).toISOString().replace(":00.000Z", "Z"),
  );

describe("the slots of an expression", () => {
  it.each([
    [
      "0 0 13 * FRI",
      "2026-03-01T00:00Z",
      "2026-03-15T00:00Z",
      "either day field is enough",
      ["2026-03-06T00:00Z", "2026-03-13T00:00Z"],
    ],
    [
      "0 0 */2 * MON",
      "2026-03-01T00:00Z",
      "2026-03-15T00:00Z",
      "a star restricts no day: both hold",
      ["2026-03-09T00:00Z"],
    ],
    [
      "30 4 29 2 *",
      "2025-01-01T00:00Z",
      "2033-01-01T00:00Z",
      "leap years",
      ["2028-02-29T04:30Z", "2032-02-29T04:30Z"],
    ],
    [
      "0 0 29 2 *",
      "2096-02-29T00:01Z",
      "2104-12-31T00:00Z",
      "over a century without one",
      ["2104-02-29T00:00Z"],
    ],
    [
      "0 0 31 2,4,6,9,11 *",
      "2026-01-01T00:00Z",
      "2040-01-01T00:00Z",
      "a day that no month has",
      [],
    ],
  ])("%s from %s to %s: %s %s", (text, from, until, _, expected) => {
    expect(slots(text, from, until)).toEqual(expected);
  });
});

describe("an hour that a change of the clock leaves out", () => {
  const berlin = ["2026-03-29T00:00Z", "2026-03-29T03:00Z"] as const;

  it.each([
    ["30 2 * * *", "fires at the first instant after it", ["2026-03-29T01:00Z"]],
    ["0,15,30 2 * * *", "fires once for several", ["2026-03-29T01:00Z"]],
    ["0 2,3 * * *", "is one with the first after it", ["2026-03-29T01:00Z"]],
    [
      "30 * * * *",
      "has no instants for an interval",
      ["2026-03-29T00:30Z", "2026-03-29T01:30Z", "2026-03-29T02:30Z"],
    ],
    ["30 */2 * * *", "has none for every second hour either", ["2026-03-29T02:30Z"]],
  ])("%s %s", (text, _, expected) => {
    expect(slots(`CRON_TZ=Europe/Berlin ${text}`, ...berlin)).toEqual(expected);
  });

  it("may be a whole day: Samoa had no 30th of December in 2011", () => {
    expect(slots("TZ=Pacific/Apia 0 12 * * *", "2011-12-29T00:00Z", "2012-01-01T00:00Z")).toEqual([
      "2011-12-29T22:00Z",
      "2011-12-30T10:00Z",
      "2011-12-30T22:00Z",
      "2011-12-31T22:00Z",
    ]);
  });
});

describe("an hour that comes twice", () => {
  const berlin = ["2026-10-25T00:00Z", "2026-10-25T02:00Z"] as const;

  it.each([
    ["30 2 * * *", "fires the first time", ["2026-10-25T00:30Z"]],
    ["30 2-3 * * *", "fires the first time in a range", ["2026-10-25T00:30Z"]],
    ["30 * * * *", "fires twice as an interval", ["2026-10-25T00:30Z", "2026-10-25T01:30Z"]],
  ])("%s %s", (text, _, expected) => {
    expect(slots(`CRON_TZ=Europe/Berlin ${text}`, ...berlin)).toEqual(expected);
  });

  it("may be half an hour: Lord Howe", () => {
    const night = ["2026-04-04T14:00Z", "2026-04-04T16:00Z"] as const;

    expect(slots("TZ=Australia/Lord_Howe 45 1 * * *", ...night)).toEqual(["2026-04-04T14:45Z"]);
    expect(slots("TZ=Australia/Lord_Howe 45 * * * *", ...night)).toEqual([
      "2026-04-04T14:45Z",
      "2026-04-04T15:15Z",
    ]);
  });
});

describe("summer time", () => {
  it("may last a week: Boa Vista in 2000", () => {
    expect(
      slots("TZ=America/Boa_Vista 0 12 * * SUN", "2000-09-30T00:00Z", "2000-10-23T00:00Z"),
    ).toEqual(["2000-10-01T16:00Z", "2000-10-08T15:00Z", "2000-10-15T16:00Z", "2000-10-22T16:00Z"]);
  });
});

/** A multiple of 2,000 expressions. A larger number also covers every existing zone. */
const rounds = Number(process.env["POSTHASTE_TEST_CRON_ROUNDS"] ?? 1);
const seed = 20_260_329;

describe("slots, minute by minute", () => {
  it("are the slots of the oracle, in any zone and at any change of its clock", () => {
    const roll = dice(seed);
    const first = rounds > 1 ? Intl.supportedValuesOf("timeZone") : [];
    for (let n = 0; n < 66 * rounds; n++) {
      const zone = first[n] ?? roll.pick(zones);
      const from = anyTimeOf(zone, roll);
      const until = from + 2 * dayMs;
      const minutes = minutesOf(wallClock(zone), from, until);
      for (let i = 0; i < 30; i++) {
        const { text, cron } = anyExpression(roll, zone);

        const found = { text, from, slots: slotsBetween(cron, from, until).join() };

        expect(found).toEqual({ text, from, slots: slotsAmong(cron, minutes).join() });
      }
    }
  });

  it("are the slots of the oracle over a whole year without a zone", () => {
    const roll = dice(seed);
    const from = Date.UTC(2028, 0, 1);
    const until = from + 366 * dayMs;
    const minutes = minutesOf((instant) => instant, from, until);
    for (let n = 0; n < 3 * rounds; n++) {
      const { text, cron } = anyExpression(roll, undefined);

      const found = { text, slots: slotsBetween(cron, from, until).join() };

      expect(found).toEqual({ text, slots: slotsAmong(cron, minutes).join() });
    }
  });

  it("only grow, from any time on", () => {
    const roll = dice(seed);
    for (let n = 0; n < 500 * rounds; n++) {
      const { cron } = anyExpression(roll, roll.pick([undefined, ...zones]));
      let last = roll.integer(Date.UTC(1973, 0, 1), Date.UTC(2060, 0, 1));
      for (let i = 0; i < 5; i++) {
        const slot = nextSlot(cron, last);
        if (slot === undefined) break;

        expect(slot).toBeGreaterThan(last);
        last = slot;
      }
    }
  });
});

/**
 * Returns a whole minute, since offsets had no seconds after 1972. Mostly it lies within the two days before a change of the
 * clock, where there is one.
 */
function anyTimeOf(zone: string, roll: Dice): number {
  const year = zone === "Pacific/Apia" && roll.chance(0.5) ? 2011 : roll.integer(1973, 2059);
  const clock = wallClock(zone);
  const offsetOn = (day: number): number => clock(day) - day;
  const start = Date.UTC(year, 0, 1);
  const days = Array.from({ length: 365 / 5 }, (_, n) => start + n * 5 * dayMs);
  const changes = days.filter((day) => offsetOn(day) !== offsetOn(day + 5 * dayMs));
  const [first, ...rest] = changes;
  const day = first === undefined ? roll.pick([start, ...days]) : roll.pick([first, ...rest]);
  return changedOn(day, offsetOn) - roll.integer(0, 2_880) * minuteMs;
}

function changedOn(from: number, offsetOn: (instant: number) => number): number {
  for (let hour = 0; hour < 120; hour++) {
    const at = from + hour * 60 * minuteMs;
    if (offsetOn(at) !== offsetOn(from)) return at;
  }
  return from;
}

const zones = [
  "Australia/Lord_Howe",
  "Pacific/Apia",
  "Africa/Cairo",
  "Africa/Casablanca",
  "Africa/El_Aaiun",
  "America/New_York",
  "America/Los_Angeles",
  "America/St_Johns",
  "America/Halifax",
  "America/Chicago",
  "America/Denver",
  "America/Anchorage",
  "America/Adak",
  "America/Havana",
  "America/Sao_Paulo",
  "America/Santiago",
  "America/Asuncion",
  "America/Caracas",
  "America/Mexico_City",
  "America/Scoresbysund",
  "America/Nuuk",
  "America/Port-au-Prince",
  "America/Argentina/San_Luis",
  "America/Bogota",
  "America/Guyana",
  "Antarctica/Troll",
  "Antarctica/Casey",
  "Antarctica/Macquarie",
  "Asia/Tokyo",
  "Asia/Kolkata",
  "Asia/Kathmandu",
  "Asia/Tehran",
  "Asia/Gaza",
  "Asia/Hebron",
  "Asia/Amman",
  "Asia/Beirut",
  "Asia/Jerusalem",
  "Asia/Pyongyang",
  "Asia/Shanghai",
  "Asia/Dhaka",
  "Asia/Almaty",
  "Asia/Yangon",
  "Atlantic/Azores",
  "Australia/Sydney",
  "Australia/Adelaide",
  "Australia/Eucla",
  "Europe/Berlin",
  "Europe/London",
  "Europe/Dublin",
  "Europe/Lisbon",
  "Europe/Moscow",
  "Europe/Istanbul",
  "Europe/Chisinau",
  "Europe/Volgograd",
  "Pacific/Auckland",
  "Pacific/Chatham",
  "Pacific/Kwajalein",
  "Pacific/Fiji",
  "Pacific/Norfolk",
  "Pacific/Tongatapu",
  "Pacific/Easter",
  "Pacific/Kiritimati",
  "Africa/Khartoum",
  "Africa/Juba",
  "Africa/Sao_Tome",
  "Africa/Windhoek",
  "UTC",
  "Etc/GMT-14",
] as const;
