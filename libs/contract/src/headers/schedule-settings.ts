/** The headers that make a schedule. A publish with one is refused: a message meant for later would be sent now. */
import {
  type Cron,
  type Fault,
  isFault,
  isKnownCron,
  nextSlot,
  parseCron,
  scheduleId,
} from "@posthaste/domain";
import { badName, isName } from "../wire/text.ts";
import {
  type Bounds,
  type Field,
  made,
  malformed,
  type ScheduleDraft,
  type Setting,
} from "./setting.ts";
import { parseBoolean } from "./values.ts";

export const scheduleSettings: readonly Setting<ScheduleDraft>[] = [
  {
    suffix: "Cron",
    rule: "Five fields: minute, hour, day of month, month, day of week; or one of @yearly, @monthly, @weekly, @daily and @hourly. The time zone is UTC, or the one of the IANA database in `CRON_TZ=<zone>` before the fields. Required for a schedule.",
    fallback: "none",
    example: "0 9 * * *",
    key: "cron",
    read: (field, bounds) => made(readCron(field, bounds), (cron) => ({ field, cron })),
    retry: "refused",
  },
  {
    suffix: "Schedule-Id",
    rule: "Name of a schedule: an existing one is replaced.",
    fallback: "a new one",
    example: "report",
    key: "id",
    read: (field) =>
      isName(field.value) ? { field, id: scheduleId(field.value) } : badName(field.name),
    retry: "refused",
  },
  {
    suffix: "Dry-Run",
    rule: "true or false: true makes no schedule, and returns its next five times.",
    fallback: "false",
    example: "true",
    key: "dryRun",
    read: (field) => made(parseBoolean(field), (isDry) => ({ field, isDry })),
    retry: "refused",
  },
];

function readCron(field: Field, { now, spendExpression }: Bounds): Cron | Fault {
  const refused = isKnownCron(field.value) ? undefined : spendExpression(field.name);
  if (refused) return refused;
  const cron = parseCron(field.value);
  if (isFault(cron)) return malformed(field, cron.text);
  if (nextSlot(cron, now) !== undefined) return cron;
  return malformed(field, "names no time within eight years");
}

export function refuseScheduleHeaders({ cron, dryRun, id }: ScheduleDraft): Fault | undefined {
  const given = cron ?? id ?? dryRun;
  return (
    given &&
    malformed(given.field, "a publish makes no schedule: the message would be sent now, and once")
  );
}
