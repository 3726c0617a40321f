/** All storage ports over one connection. */
import { type StorePorts, type Roster, type RunningCalls } from "@posthaste/ports";
import { createAccounts } from "./accounts.ts";
import { createAuditLog } from "./audit-log.ts";
import { type Connection } from "./connection.ts";
import { createDeadLetters } from "./dead-letters.ts";
import { createReferred } from "./fan-outs/fan-outs.ts";
import { createGroups } from "./groups/groups.ts";
import { createIds } from "./ids.ts";
import { createEventCounts } from "./message-log/counts.ts";
import { createMessageLog } from "./message-log/message-log.ts";
import { createRecordPorts, storeOf } from "./messages/record-ports.ts";
import { type Oldest } from "./oldest.ts";
import { createRoster } from "./roster.ts";
import { createSchedules } from "./schedules/schedules.ts";
import { createSearchIndexes } from "./search-indexes.ts";
import { createRunningCalls, createSizes } from "./sizes.ts";

export type DocumentPorts = StorePorts & {
  readonly runningCalls: RunningCalls;
  readonly roster: Roster;
};

type OpenedPorts = { readonly ports: DocumentPorts; readonly close: () => Promise<void> };

/** Opens the ports of one process. `aside`: connections for renewals only. `inserting` wraps each insert. */
export function openPorts(
  plain: Connection,
  aside: Connection = plain,
  inserting?: Oldest["during"],
): OpenedPorts {
  const counts = createEventCounts(plain);
  const connection = { ...plain, counts };
  return {
    ports: {
      ...createRecordPorts(connection, aside, inserting),
      ids: createIds(connection),
      deadLetters: createDeadLetters(connection),
      groups: createGroups(connection, createReferred(storeOf(connection))),
      schedules: createSchedules(connection),
      messageLog: createMessageLog(connection),
      accounts: createAccounts(connection),
      indexes: createSearchIndexes(connection),
      auditLog: createAuditLog(connection),
      sizes: createSizes(connection),
      runningCalls: createRunningCalls(connection),
      roster: createRoster(connection),
    },
    close: () => counts.close(),
  };
}
