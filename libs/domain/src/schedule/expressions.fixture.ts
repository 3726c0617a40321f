import { type Dice } from "@posthaste/testing";
import { type Cron } from "./cron.ts";
import { type CronField } from "./field.ts";

export type Expression = { readonly text: string; readonly cron: Cron };
type Written = { readonly text: string; readonly field: CronField };

const months = ["JAN", "Feb", "mar", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const days = ["SUN", "Mon", "tue", "WED", "THU", "FRI", "SAT"];

export function anyExpression(roll: Dice, zone: string | undefined): Expression {
  const minute = anyField(roll, 0, 59);
  const hour = anyField(roll, 0, 23);
  // Most expressions do not restrict the day of the month, since hardly any would fire otherwise.
  const dayOfMonth = roll.chance(0.6) ? star(1, 31) : anyField(roll, 1, 31);
  const month = roll.chance(0.8) ? star(1, 12) : anyField(roll, 1, 12, months);
  const dayOfWeek = roll.chance(0.6) ? star(0, 6) : anyField(roll, 0, 6, days);
  const space = roll.pick([" ", "  ", "\t"]);
  const fields = [minute, hour, dayOfMonth, month, dayOfWeek];
  const prefix = zone === undefined ? "" : `${roll.pick(["CRON_TZ", "TZ"])}=${zone}${space}`;
  return {
    text: prefix + fields.map(({ text }) => text).join(space),
    cron: {
      zone,
      minute: minute.field,
      hour: hour.field,
      dayOfMonth: dayOfMonth.field,
      month: month.field,
      dayOfWeek: dayOfWeek.field,
    },
  };
}

const star = (min: number, max: number): Written => ({
  text: "*",
  field: { values: every(min, max, 1), isStar: true },
});

function anyField(roll: Dice, min: number, max: number, names?: readonly string[]): Written {
  const items = Array.from({ length: roll.integer(1, 3) }, () => anyItem(roll, min, max, names));
  const text = items.map((item) => item.text).join(",");
  const values = new Set(items.flatMap((item) => item.values));
  return {
    text,
    field: { values: [...values].toSorted((a, b) => a - b), isStar: text.startsWith("*") },
  };
}

function anyItem(roll: Dice, min: number, max: number, names?: readonly string[]) {
  const called = (value: number): string =>
    (roll.chance(0.5) ? names?.[value - min] : undefined) ?? String(value);
  const from = roll.integer(min, max);
  const to = roll.integer(from, max);
  const step = roll.integer(1, max);
  switch (roll.integer(0, 4)) {
    case 0:
      return { text: `*/${step}`, values: every(min, max, step) };
    case 1:
      return { text: `${called(from)}-${called(to)}`, values: every(from, to, 1) };
    case 2:
      return { text: `${called(from)}-${called(to)}/${step}`, values: every(from, to, step) };
    case 3:
      return { text: `${called(from)}/${step}`, values: every(from, max, step) };
    default:
      return { text: called(from), values: [from] };
  }
}

function every(from: number, to: number, step: number): readonly number[] {
  const values: number[] = [];
  for (let value = from; value <= to; value += step) values.push(value);
  return values;
}
