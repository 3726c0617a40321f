/** A cron expression: five fields or a name for them, with an optional time zone (docs/design/schedules#the-expression). */
import { type Fault, fault, isFault } from "../shared/fault.ts";
import { type CronField, parseField, ranges } from "./field.ts";
import { TextCache } from "../shared/text-cache.ts";
import { isZone, isZoneOfIntl } from "./zone.ts";

export type Cron = {
  /** Undefined for UTC. */
  readonly zone: string | undefined;
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
};

const lengthMax = 256;

/** The names that the hosted service reads, in lower case only. */
const namedFields: ReadonlyMap<string, string> = new Map([
  ["@yearly", "0 0 1 1 *"],
  ["@annually", "0 0 1 1 *"],
  ["@monthly", "0 0 1 * *"],
  ["@weekly", "0 0 * * 0"],
  ["@daily", "0 0 * * *"],
  ["@midnight", "0 0 * * *"],
  ["@hourly", "0 * * * *"],
]);

const form = "must be five fields: minute, hour, day of month, month, day of week";
const names = `must be five fields, or one of ${[...namedFields.keys()].join(", ")}`;

/** Caches expressions in use: a schedule reads its own at each slot. */
const known = new TextCache<Cron>({
  entriesMax: 2_000,
  lengthMax,
  canonical: (text) => text.trim(),
});

/** Reports whether `text` was read lately and is an expression. */
export const isKnownCron = (text: string): boolean => known.has(text);

/**
 * Parses an expression, with or without `CRON_TZ=<zone>` or `TZ=<zone>` before it. A fault says which part is wrong, and
 * how.
 */
export function parseCron(text: string): Cron | Fault {
  const found = known.get(text);
  if (found) return found;
  const cron = readCron(text, isZone);
  if (!isFault(cron)) known.set(text, cron);
  return cron;
}

/** Parses the expression of a stored schedule. An abbreviation in place of its zone keeps its meaning. */
export function storedCron(text: string): Cron | Fault {
  const cron = parseCron(text);
  return isFault(cron) ? readCron(text, isZoneOfIntl) : cron;
}

function readCron(text: string, isTaken: (zone: string) => boolean): Cron | Fault {
  if (text.length > lengthMax) {
    return fault("malformed", `must be at most ${lengthMax} characters`);
  }
  const [, zone, rest = ""] = /^\s*(?:(?:CRON_)?TZ=(\S*)\s)?(.*)$/s.exec(text) ?? [];
  if (zone !== undefined && !isTaken(zone)) {
    return fault("malformed", `time zone: "${zone}" is not a name of the IANA database`);
  }
  const fields = rest.trim();
  const named = namedFields.get(fields);
  if (named === undefined && fields.startsWith("@")) return fault("malformed", names);
  const parts = (named ?? fields).split(/[ \t]+/);
  const [minuteText = "", hourText = "", dayText = "", monthText = "", weekText = ""] = parts;
  if (parts.length !== 5) return fault("malformed", form);
  const minute = parseField(minuteText, ranges.minute);
  if (isFault(minute)) return minute;
  const hour = parseField(hourText, ranges.hour);
  if (isFault(hour)) return hour;
  const dayOfMonth = parseField(dayText, ranges.dayOfMonth);
  if (isFault(dayOfMonth)) return dayOfMonth;
  const month = parseField(monthText, ranges.month);
  if (isFault(month)) return month;
  const dayOfWeek = parseField(weekText, ranges.dayOfWeek);
  if (isFault(dayOfWeek)) return dayOfWeek;
  return { zone, minute, hour, dayOfMonth, month, dayOfWeek };
}
