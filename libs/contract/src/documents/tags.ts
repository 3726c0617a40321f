/** The groups in which the reference shows operations. */
import { audit } from "../endpoints/audit.ts";
import { batch } from "../endpoints/batch.ts";
import { bulkActions } from "../endpoints/bulk-actions.ts";
import { deadLetters } from "../endpoints/dead-letters.ts";
import { failedRuns } from "../endpoints/failed-runs.ts";
import { flowKeys } from "../endpoints/flow-keys.ts";
import { me } from "../endpoints/me.ts";
import { messageLog } from "../endpoints/message-log.ts";
import { messages } from "../endpoints/messages.ts";
import { overview } from "../endpoints/overview.ts";
import { queues } from "../endpoints/queues.ts";
import { restarts } from "../endpoints/restarts.ts";
import { runLogs } from "../endpoints/run-logs.ts";
import { runs } from "../endpoints/runs.ts";
import { schedules } from "../endpoints/schedules.ts";
import { signingKeys } from "../endpoints/signing-keys.ts";
import { triggers } from "../endpoints/trigger.ts";
import { urlGroups } from "../endpoints/url-groups.ts";
import { waits } from "../endpoints/waits.ts";
import { wholeAudit } from "../management/audit.ts";
import { searchIndexes } from "../management/search-indexes.ts";
import { tenantKeys } from "../management/tenant-keys.ts";
import { tenants } from "../management/tenants.ts";
import { tokens } from "../management/tokens.ts";

type Rows = Readonly<Record<string, unknown>>;

const groups: readonly (readonly [name: string, description: string, ...rows: Rows[]])[] = [
  ["Publish", "Messages, one by one and in batches", { publish: 1, enqueue: 1 }, batch],
  ["Messages", "Messages and bulk actions under way", messages, bulkActions],
  ["Log", "Events of messages, and their counts", messageLog, overview],
  ["Dead letters", "Messages that have used all retries", deadLetters],
  ["Schedules", "Messages by a cron expression", { createSchedule: 1 }, schedules],
  ["Queues", "Messages in their order", queues],
  ["URL groups", "One publish to many endpoints", urlGroups],
  ["Flow control", "Limits that messages of a key share", flowKeys],
  [
    "Runs",
    "Workflows: their runs, steps and events",
    { trigger: 1 },
    triggers,
    runs,
    runLogs,
    waits,
  ],
  ["Failed runs", "Failed runs: read, restarted and resumed", failedRuns, restarts],
  [
    "Account",
    "The tenant of the token, its changes, and the keys that sign deliveries",
    me,
    audit,
    signingKeys,
  ],
  [
    "Tenants",
    "Tenants, their tokens and their keys, and all changes",
    tenants,
    tokens,
    tenantKeys,
    wholeAudit,
  ],
  ["Search indexes", "The register of search indexes", searchIndexes],
];

const names: ReadonlyMap<string, string> = new Map(
  groups.flatMap(([name, , ...rows]) =>
    rows.flatMap((each) => Object.keys(each).map((operation) => [operation, name] as const)),
  ),
);

export function tagOf(operation: string): string {
  const name = names.get(operation);
  if (name === undefined) throw new Error(`${operation} is in no group of the reference`);
  return name;
}

/** The groups in the order of the page. */
export const tags = groups.map(([name, description]) => ({ name, description }));
