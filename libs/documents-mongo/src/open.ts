/** All storage ports over one database. */
import {
  type Accounts,
  type AuditLog,
  type Clock,
  type DeadLetters,
  type Groups,
  type Ids,
  type MessageLog,
  type RecordPorts,
  type Roster,
  type RunningCalls,
  type Schedules,
  type SearchIndexes,
  type Sizes,
} from "@posthaste/ports";
import { allIndexes } from "./all-indexes.ts";
import { createAccounts } from "./accounts.ts";
import { createAuditLog } from "./audit-log.ts";
import { type Committed } from "./committed.ts";
import { createDeadLetters } from "./dead-letters.ts";
import { createReferred } from "./fan-outs/fan-outs.ts";
import { createGroups } from "./groups/groups.ts";
import { createIds } from "./ids.ts";
import { type Link, type LinkOptions, openLink } from "./link.ts";
import { createEventCounts } from "./message-log/counts.ts";
import { createMessageLog } from "./message-log/message-log.ts";
import { createOldest } from "./oldest.ts";
import { createRecordPorts, roomsOf } from "./messages/record-ports.ts";
import { createRoster } from "./roster.ts";
import { createSchedules } from "./schedules/schedules.ts";
import { createSearchIndexes } from "./search-indexes.ts";
import { createRunningCalls, createSizes } from "./sizes.ts";

export type DocumentsOptions = LinkOptions & {
  readonly committed?: Committed;
};

export type Documents = Pick<Link, "isUp" | "problem" | "building" | "calls" | "close" | "drop"> & {
  readonly ports: RecordPorts & {
    readonly ids: Ids;
    readonly deadLetters: DeadLetters;
    readonly groups: Groups;
    readonly schedules: Schedules;
    readonly messageLog: MessageLog;
    readonly accounts: Accounts;
    readonly indexes: SearchIndexes;
    readonly auditLog: AuditLog;
    readonly sizes: Sizes;
    readonly runningCalls: RunningCalls;
    readonly roster: Roster;
  };
  readonly storeClock: Clock;
  readonly waitMs: () => number;
};

/** Resolves at once, whether or not there is a server. Every call rejects as `unavailable` until the server has answered. */
export async function openDocuments(options: DocumentsOptions): Promise<Documents> {
  const { committed } = options;
  const {
    connection: plain,
    aside,
    isUp,
    problem,
    building,
    calls,
    close,
    drop,
  } = openLink(options, allIndexes);
  const counts = createEventCounts(plain);
  const inserts = createOldest(options.clock);
  const connection = { ...plain, counts };
  return {
    ports: {
      ...createRecordPorts(
        committed ? { ...connection, committed } : connection,
        aside,
        inserts.during,
      ),
      ids: createIds(connection),
      deadLetters: createDeadLetters(connection),
      groups: createGroups(connection, createReferred(roomsOf(connection))),
      schedules: createSchedules(connection),
      messageLog: createMessageLog(connection),
      accounts: createAccounts(connection),
      indexes: createSearchIndexes(connection),
      auditLog: createAuditLog(connection),
      sizes: createSizes(connection),
      runningCalls: createRunningCalls(connection),
      roster: createRoster(connection),
    },
    storeClock: connection.clock,
    waitMs: inserts.waitMs,
    isUp,
    problem,
    building,
    calls,
    close: async () => {
      await counts.close();
      await close();
    },
    drop,
  };
}
