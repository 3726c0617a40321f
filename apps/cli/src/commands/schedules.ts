import { type Schedule } from "@posthaste/client";
import { type Command } from "commander";
import { withValue } from "../option.ts";
import { type Column, timeOf } from "../output.ts";
import { type Acting } from "../session.ts";
import { addActs } from "./acts.ts";
import { publicationOf, withSettings } from "./publishing.ts";

type Options = Readonly<Record<string, string | undefined>>;

const columns: readonly Column<Schedule>[] = [
  ["schedule", ({ scheduleId }) => scheduleId],
  ["cron", ({ cron }) => cron],
  ["next", ({ isPaused, nextScheduleTime }) => (isPaused ? "paused" : timeOf(nextScheduleTime))],
  ["last", ({ lastScheduleTime }) => timeOf(lastScheduleTime)],
  ["destination", ({ destination }) => destination],
];

export function addSchedules(program: Command, acting: Acting): void {
  const schedules = program.command("schedules").description("schedules");
  schedules
    .command("ls")
    .description("list the schedules")
    .action(
      acting(async ({ client, output }) => output.rows(await client.schedules.list(), columns)),
    );
  schedules
    .command("show <schedule>")
    .description("show a schedule and its message")
    .action(
      acting(async ({ client, output }, [id = ""]) => output.item(await client.schedules.read(id))),
    );
  withValue(withSettings(schedules.command("set <cron> <destination>")), "--id <schedule>", {
    about: "Id of the schedule; an existing one is replaced",
    ...{ fallback: "a new one", example: "report" },
  })
    .description("publish by a cron expression, such as '0 9 * * *'")
    .action(
      acting<Options>(async (session, [cron = "", to = ""], options) => {
        const { client, output } = session;
        const { id: scheduleId } = options;
        const publication = await publicationOf(session, options);
        const named = { ...publication, to, cron, ...(scheduleId !== undefined && { scheduleId }) };
        output.item(await client.schedule(named));
      }),
    );
  addActs(schedules, acting, "schedule", "scheduleId", (client) => client.schedules);
}
