import { expect, it } from "@jest/globals";
import { isFault } from "@posthaste/domain";
import { parsePublish } from "./parse-publish.ts";
import { parseSchedule } from "./parse-schedule.ts";
import { parseContext } from "./publish-input.fixture.ts";
import { headerRules } from "./table.ts";

/** The headers that a header requires beside it. */
const partners: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Flow-Control-Key": { "Flow-Control-Value": "parallelism=1" },
  "Flow-Control-Value": { "Flow-Control-Key": "carrier" },
};
/** Headers of runs are for clients of workflows, and are meaningful only together. */
const shown = headerRules.filter(({ suffix }) => !suffix.startsWith("Workflow-"));
/** Shortly before the time in the example. */
const now = 1_767_000_000_000;
const ofSchedules = ["Cron", "Schedule-Id", "Dry-Run"];

it.each(shown.map(({ example, fallback, suffix }) => [suffix, example, fallback]))(
  "Service-%s: %s is taken",
  (suffix, example) => {
    const family = /^((Failure-)?Callback-)/.exec(suffix)?.[1] ?? "";
    const beside = Object.entries(partners[suffix.slice(family.length)] ?? {});
    const headers = [
      ...beside.flatMap(([name, value]) => [`Service-${family}${name}`, value]),
      ...[`Service-${suffix.replace("*", "X-Shop")}`, example],
      ...(family === "" ? [] : ["Service-Callback", "https://shop.example/callback"]),
      ...(family === "" ? [] : ["Service-Failure-Callback", "https://shop.example/failed"]),
      ...(ofSchedules.includes(suffix) && suffix !== "Cron" ? ["Service-Cron", "0 9 * * *"] : []),
    ];
    const destination = { kind: "url", url: "https://example.com/hook" } as const;
    const input = {
      ...parseContext,
      now,
      destination,
      body: new Uint8Array(),
      rawHeaders: headers,
    };

    const read = ofSchedules.includes(suffix) ? parseSchedule(input) : parsePublish(input);

    expect(isFault(read) ? read.text : undefined).toBe(undefined);
  },
);
