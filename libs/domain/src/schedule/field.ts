/** One field of a cron expression: the numbers that it allows, and whether it begins with a star, `*` or `?`. */
import { type Fault, fault, isFault } from "../shared/fault.ts";

export type CronField = {
  /** Ascending, without repeats. */
  readonly values: readonly number[];
  /**
   * A star in the hour makes it an interval; a star in a day means no restriction (docs/design/schedules#the-expression).
   */
  readonly isStar: boolean;
};

type Range = {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** The first name stands for `min`. */
  readonly names?: readonly string[];
};

const monthNames = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC".split(" ");
const dayNames = "SUN MON TUE WED THU FRI SAT".split(" ");

export const ranges = {
  minute: { name: "minute", min: 0, max: 59 },
  hour: { name: "hour", min: 0, max: 23 },
  dayOfMonth: { name: "day of month", min: 1, max: 31 },
  month: { name: "month", min: 1, max: 12, names: monthNames },
  /** Seven is Sunday, too: it becomes 0. */
  dayOfWeek: { name: "day of week", min: 0, max: 7, names: dayNames },
} as const satisfies Readonly<Record<string, Range>>;

/**
 * Parses items between commas: `*` or `?`, a number or name, a range, each with an optional step. A fault names the field.
 */
export function parseField(text: string, range: Range): CronField | Fault {
  const values = new Set<number>();
  for (const item of text.split(",")) {
    const allowed = parseItem(item, range);
    if (isFault(allowed)) return allowed;
    for (let value = allowed.from; value <= allowed.to; value += allowed.step) {
      values.add(isSunday(value, range) ? 0 : value);
    }
  }
  return { values: [...values].toSorted((a, b) => a - b), isStar: /^[*?]/.test(text) };
}

const isSunday = (value: number, range: Range): boolean =>
  range === ranges.dayOfWeek && value === range.max;

type Item = { readonly from: number; readonly to: number; readonly step: number };

function parseItem(item: string, range: Range): Item | Fault {
  const [, first, last, steps] = /^([*?]|\w{1,3})(?:-(\w{1,3}))?(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  const isStar = first === "*" || first === "?";
  if (first === undefined || (isStar && last !== undefined)) return invalid(item, range);
  const step = Number(steps ?? 1);
  if (step === 0) return refuse(range, `the step of "${item}" must be 1 or more`);
  const highest = range === ranges.dayOfWeek ? range.max - 1 : range.max;
  if (isStar) return { from: range.min, to: highest, step };
  const from = parseNumber(first, range);
  // `5/10` means `5-59/10`.
  const to = last !== undefined ? parseNumber(last, range) : steps !== undefined ? highest : from;
  if (from === undefined || to === undefined) return invalid(item, range);
  return from <= to || last === undefined
    ? { from, to: Math.max(from, to), step }
    : refuse(range, `"${item}" ends before it begins`);
}

function parseNumber(text: string, { min, max, names }: Range): number | undefined {
  const place = names?.indexOf(text.toUpperCase()) ?? -1;
  if (place >= 0) return min + place;
  const value = /^\d{1,2}$/.test(text) ? Number(text) : -1;
  return value >= min && value <= max ? value : undefined;
}

/** The fault cites the caller's text, which is bounded, as the expression is. */
const invalid = (item: string, range: Range): Fault =>
  refuse(
    range,
    `"${item}" must be *, a number from ${range.min} to ${range.max}${range.names ? ", a name" : ""}, a range or a step`,
  );

const refuse = ({ name }: Range, why: string): Fault => fault("malformed", `${name}: ${why}`);
