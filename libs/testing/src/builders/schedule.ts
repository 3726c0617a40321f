/** Valid schedules: the test names only the values that matter to it. */
import {
  type Cron,
  isFault,
  newSchedule,
  parseCron,
  type ScheduleCommand,
  scheduleId,
  scheduleUidLength,
  type WholeSchedule,
} from "@posthaste/domain";
import { epochStart } from "../virtual-clock.ts";
import { aCommand } from "./command.ts";

export function aCron(text: string): Cron {
  const cron = parseCron(text);
  if (isFault(cron)) throw new Error(cron.text);
  return cron;
}

/** Returns a schedule; by default every ten minutes in UTC. */
export function aScheduleCommand(
  text = "*/10 * * * *",
  overrides: Partial<Pick<ScheduleCommand, "tenant" | "body" | "template">> = {},
): ScheduleCommand {
  const { tenant, body, ...template } = aCommand();
  return {
    tenant,
    body,
    template: { ...template, delayMs: 0 },
    cron: { ...aCron(text), text },
    ...overrides,
  };
}

export const aSchedule = (
  id = "scd_1",
  command: ScheduleCommand = aScheduleCommand(),
  now: number = epochStart,
): WholeSchedule => newSchedule(command, scheduleId(id), id.padEnd(scheduleUidLength, "u"), now);
