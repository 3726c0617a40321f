/**
 * Time zones: the instants at which a zone's offset from UTC changes. They are found with `Intl`, once for each zone and
 * year, and cached (about 1 ms and 300 bytes). Callers choose the zones and, by the dates of an expression, the years; the
 * caches of both are bounded, under the name in lower case.
 */
import { TextCache, type TextCacheOptions } from "../shared/text-cache.ts";

/** A period in which a zone's offset does not change. A stretch ends at a change, or with the year in UTC. */
export type Stretch = {
  readonly from: number;
  readonly until: number;
  /** Wall time minus UTC. */
  readonly offsetMs: number;
  readonly offsetBeforeMs: number;
};

/** The longest name has 32 characters; the key of a year adds the year to it. */
const nameLengthMax = 64;
/** `Intl` ignores the case of names. Only ASCII letters reach this. */
const kept = {
  lengthMax: nameLengthMax + " 275760".length,
  canonical: (name: string) => name.toLowerCase(),
} satisfies Partial<TextCacheOptions>;

/** There are 600 names, so all that are in use are cached. */
const knownZones = new TextCache<true>({ ...kept, entriesMax: 1_200 });
/** Room for all zones in this year, the next, and those in which a 29th of February may fall. */
const knownYears = new TextCache<readonly Stretch[]>({ ...kept, entriesMax: 8_000 });

/** Reports whether `name` is in the IANA database, in any case. Offsets such as `+01:00` are not names. */
export const isZone = (name: string): boolean => isNameOfDatabase(name) && isZoneOfIntl(name);

/** Reports whether `Intl` knows a name. `Intl` knows abbreviations, too, with which schedules could once be made. */
export function isZoneOfIntl(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  if (knownZones.has(name)) return true;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
  } catch {
    return false;
  }
  knownZones.set(name, true);
  return true;
}

/**
 * Reports whether a name has an area and a place, or is in the closed list of names without an area. `Intl` also knows names
 * that the database does not: those of System V, and abbreviations, which it takes for other places than their users do
 * (`BST` is Dhaka).
 */
const isNameOfDatabase = (name: string): boolean =>
  /^(?!SystemV\/)[A-Z][A-Z_]+(\/[A-Z0-9_+-]+){1,2}$/i.test(name) ||
  namesWithoutArea.has(name.toLowerCase());

const namesWithoutArea: ReadonlySet<string> = new Set(
  (
    "cet cst6cdt cuba eet egypt eire est est5edt gb gb-eire gmt gmt+0 gmt-0 gmt0 greenwich hongkong hst iceland iran " +
    "israel jamaica japan kwajalein libya met mst mst7mdt navajo nz nz-chat poland portugal prc pst8pdt roc rok " +
    "singapore turkey uct universal utc w-su wet zulu"
  ).split(" "),
);

/** Returns the stretch that contains `instant`. Throws for a name that is no zone. */
export function stretchAt(zone: string, instant: number): Stretch {
  const year = new Date(instant).getUTCFullYear();
  const key = `${zone} ${year}`;
  let stretches = knownYears.get(key);
  if (!stretches) knownYears.set(key, (stretches = stretchesOf(zone, year)));
  const found = stretches.find(({ until }) => instant < until);
  if (!found) throw new Error(`no stretch of ${zone} holds ${instant}`);
  return found;
}

/** Shorter than any period for which a zone has kept an offset; the shortest so far is six days. */
const lookEveryMs = 3 * 86_400_000;
const secondMs = 1_000;

function stretchesOf(zone: string, year: number): readonly Stretch[] {
  const offsetAt = offsetReader(zone);
  const start = Date.UTC(year, 0, 1);
  const end = Date.UTC(year + 1, 0, 1);
  const stretches: Stretch[] = [];
  let last = { from: start, offsetMs: offsetAt(start), offsetBeforeMs: offsetAt(start - secondMs) };
  for (let seen = start; seen < end - secondMs;) {
    const looked = Math.min(seen + lookEveryMs, end - secondMs);
    if (offsetAt(looked) === last.offsetMs) {
      seen = looked;
      continue;
    }
    seen = changeWithin(seen, looked, last.offsetMs, offsetAt);
    stretches.push({ ...last, until: seen });
    last = { from: seen, offsetMs: offsetAt(seen), offsetBeforeMs: last.offsetMs };
  }
  return [...stretches, { ...last, until: end }];
}

type OffsetAt = (instant: number) => number;

/** Returns the first second with another offset: `same` still has `offsetMs`, `other` no longer. */
function changeWithin(same: number, other: number, offsetMs: number, offsetAt: OffsetAt): number {
  while (other - same > secondMs) {
    const middle = same + Math.floor((other - same) / (2 * secondMs)) * secondMs;
    if (offsetAt(middle) === offsetMs) same = middle;
    else other = middle;
  }
  return other;
}

/** Reads `MM/DD/YYYY, HH:MM:SS`, in a quarter of the time that `formatToParts` takes. */
function offsetReader(timeZone: string): OffsetAt {
  const twoDigits = "2-digit";
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: twoDigits,
    day: twoDigits,
    hour: twoDigits,
    minute: twoDigits,
    second: twoDigits,
  });
  return (instant) => {
    const numbers = format.format(instant).match(/\d+/g)?.map(Number) ?? [];
    const [month = 1, day = 1, year = 1970, hour = 0, minute = 0, second = 0] = numbers;
    return Date.UTC(year, month - 1, day, hour, minute, second) - instant;
  };
}
