/**
 * Time zones: the instants at which a zone's offset from UTC changes, found with `Intl` once for each zone and year and
 * kept. A zone's year is a few numbers; names are those that `Intl` knows, and years those that schedules reach, so the
 * tables are bounded by some hundred zones times ten years.
 */

/** A time in which a zone's offset does not change. It ends at a change, or with the year in UTC. */
export type Stretch = {
  readonly from: number;
  readonly until: number;
  /** Wall time minus UTC. */
  readonly offsetMs: number;
  /** The offset right before `from`. */
  readonly offsetBeforeMs: number;
};

const knownZones = new Map<string, Map<number, readonly Stretch[]>>();

/** Names of the IANA database, in any case. Offsets such as `+01:00` are no names. */
export function isZone(name: string): boolean {
  if (knownZones.has(name)) return true;
  if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The stretch that holds `instant`. Throws for a name that is no zone. */
export function stretchAt(zone: string, instant: number): Stretch {
  const years = knownZones.get(zone) ?? new Map<number, readonly Stretch[]>();
  knownZones.set(zone, years);
  const year = new Date(instant).getUTCFullYear();
  const stretches = years.get(year) ?? stretchesOf(zone, year);
  years.set(year, stretches);
  const found = stretches.find(({ until }) => instant < until);
  if (!found) throw new Error(`no stretch of ${zone} holds ${instant}`);
  return found;
}

/** Shorter than any time for which a zone has changed its offset; the shortest so far is six days. */
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

/** The first second with another offset: `same` has it still, `other` not any more. */
function changeWithin(same: number, other: number, offsetMs: number, offsetAt: OffsetAt): number {
  while (other - same > secondMs) {
    const middle = same + Math.floor((other - same) / (2 * secondMs)) * secondMs;
    if (offsetAt(middle) === offsetMs) same = middle;
    else other = middle;
  }
  return other;
}

/** Reads `MM/DD/YYYY, HH:MM:SS`: a quarter of the time that the parts would take. */
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
