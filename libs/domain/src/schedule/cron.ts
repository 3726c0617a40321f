/** A cron expression: five fields and perhaps a time zone (docs/design/schedules#the-expression). */
import { type Fault, fault, isFault } from "../shared/fault.ts";
import { type CronField, parseField, ranges } from "./field.ts";
import { isZone } from "./zone.ts";

export type Cron = {
  /** Undefined: UTC. */
  readonly zone: string | undefined;
  readonly minute: CronField;
  readonly hour: CronField;
  readonly dayOfMonth: CronField;
  readonly month: CronField;
  readonly dayOfWeek: CronField;
};

const lengthMax = 256;
const form = "must be five fields: minute, hour, day of month, month, day of week";

/** `text` with or without `CRON_TZ=<zone>` or `TZ=<zone>` before it. A fault says which part is wrong, and how. */
export function parseCron(text: string): Cron | Fault {
  if (text.length > lengthMax) {
    return fault("malformed", `must be at most ${lengthMax} characters`);
  }
  const [, zone, rest = ""] = /^\s*(?:(?:CRON_)?TZ=(\S*)\s)?(.*)$/s.exec(text) ?? [];
  if (zone !== undefined && !isZone(zone)) {
    return fault("malformed", `time zone: "${zone}" is no name of the IANA database`);
  }
  const parts = rest.trim().split(/[ \t]+/);
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
