/** Parses a schedule from headers to command: a publish whose message is made later, and the times for that. */
import {
  type Deduplication,
  type Fault,
  type ScheduleCommand,
  type ScheduleId,
  fault,
  isFault,
} from "@posthaste/domain";
import { dialects } from "../wire/dialects.ts";
import { completeCommand } from "./complete.ts";
import { readRequest, refuseHost } from "./parse-publish.ts";
import { type PublishInput } from "./publish-input.ts";
import { malformed } from "./setting.ts";

export type ScheduleRequest = {
  readonly command: ScheduleCommand;
  /** Absent if a new schedule is made. */
  readonly id?: ScheduleId;
  /** Applies to this call, not to the messages. */
  readonly deduplication?: Deduplication;
  readonly isDryRun: boolean;
};

/** A fault `malformed` names the header as the caller wrote it, `beyond_plan` the quota. */
export function parseSchedule(input: PublishInput): ScheduleRequest | Fault {
  const read = readRequest(input);
  if (isFault(read)) return read;
  const { draft, dialect } = read;
  const { cron, dryRun, id } = draft.schedule ?? {};
  if (!cron) return fault("malformed", `${dialects[dialect].prefix}Cron: must be given`);
  if (draft.notBefore) {
    return malformed(draft.notBefore.field, "a schedule takes Delay, which counts from each slot");
  }
  const refused = refuseHost(draft);
  if (refused) return refused;
  const publish = completeCommand(read, input);
  if (isFault(publish)) return publish;
  const { tenant, body, postponement: _, deduplication, schedule: __, ...template } = publish;
  return {
    command: {
      tenant,
      body,
      cron: { ...cron.cron, text: cron.field.value },
      template: { ...template, delayMs: draft.message.delayMs ?? 0 },
    },
    ...(id && { id: id.id }),
    ...(deduplication && { deduplication }),
    isDryRun: dryRun?.isDry ?? false,
  };
}
