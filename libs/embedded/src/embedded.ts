/** Opens all storage and bus ports of one process, over one data directory. */
import { mkdirSync } from "node:fs";
import { type DatabaseSync } from "node:sqlite";
import {
  type Clock,
  type EventBus,
  type Log,
  type Metrics,
  type Random,
  type StorePorts,
  type TokenStore,
} from "@posthaste/ports";
import { openAccounts } from "./accounts.ts";
import { openArchive } from "./archive.ts";
import { openAuditLog } from "./audit-log.ts";
import { openBus } from "./bus.ts";
import { sqliteCode } from "./database/failures.ts";
import { openDatabase } from "./database/open.ts";
import { integer } from "./database/rows.ts";
import { type Sync } from "./database/write-ahead-log.ts";
import { Writer } from "./database/writer.ts";
import { openDeadLetters } from "./dead-letters/dead-letters.ts";
import { noDisk, openDisk } from "./disk/disk.ts";
import { giveUpReserve } from "./disk/reserve.ts";
import { type Space } from "./disk/free-space.ts";
import { openFanOuts } from "./fan-outs.ts";
import { openGroups } from "./groups.ts";
import { openKeptBodies } from "./kept-bodies.ts";
import { openLanes } from "./lanes.ts";
import { openLetters } from "./dead-letters/rows.ts";
import { openEventCounts, openEvents } from "./log/events.ts";
import { openMessageLog } from "./log/message-log.ts";
import { openBacklog, openFinished, openRecent } from "./messages/in-memory.ts";
import { openConfigurations } from "./messages/configurations.ts";
import { openKeeping } from "./messages/keeping.ts";
import { openIds, openNames, openPositions, type Positions } from "./messages/positions.ts";
import { openOutbox } from "./messages/outbox.ts";
import { type Store } from "./messages/store.ts";
import { openRecordPorts } from "./messages/record-ports.ts";
import { openWholeRows } from "./messages/whole.ts";
import { recover, type Recovered } from "./recovery.ts";
import { openQueueRows } from "./queues/rows.ts";
import { openTurns } from "./queues/turns.ts";
import { openBulkAlarms } from "./bulk-actions/bulk-actions.ts";
import { openRunAlarms } from "./runs/runs.ts";
import { openRunAttempts } from "./runs/attempts.ts";
import { openScheduleAlarms } from "./schedules/schedules.ts";
import { openSchedules } from "./schedules/schedules.ts";
import { openSearchIndexes } from "./search-indexes.ts";
import { openSizes } from "./sizes.ts";
import { openTenantKeys } from "./tenants.ts";
import { openTokenStore } from "./tokens/token-store.ts";
import { createBreathe } from "./query/breathe.ts";
import { openTerms } from "./terms.ts";
import { openSpent } from "./tokens/spent.ts";
import { openWindows } from "./tokens/windows.ts";

export type EmbeddedOptions = {
  /** A directory, made if it is missing. `:memory:` keeps nothing. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Runs a task after the present turn of the event loop; a simulation brings its own. */
  readonly schedule?: (task: () => void) => void;
  readonly metrics?: Pick<Metrics, "observe">;
  /** Called when the store has failed and takes no more writes: the process should end, non-zero. */
  readonly fatal?: (error: Error) => void;
  /** Size of the file that is given up when the disk is full. Default 64 MiB; 0 for none. */
  readonly reserveBytes?: number;
  /** Replaces the disk's own sync of the log. */
  readonly sync?: Sync;
  /** Returns the disk's space, of which `promisedBytes` may not be taken. Absent for the numbers of the file system. */
  readonly space?: (promisedBytes: number) => Space;
};

export type Embedded = StorePorts & {
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly recovered: Recovered;
  /** How long the oldest write has waited for its commit to be durable. */
  readonly waitMs: () => number;
  readonly commits: () => number;
  /** Must be called before serving. Opens files and threads now that would otherwise be opened when needed, when the system may have none left. */
  readonly start: () => Promise<void>;
  readonly close: () => Promise<void>;
};

function makeFolder(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  } catch (cause) {
    const said = Error.isError(cause) ? cause.message : String(cause);
    throw new Error(`the data directory ${dataDir} cannot be made: ${said}`, { cause });
  }
}

/** Throws with one clear line when the directory cannot be made or is in use, the file is damaged or newer, or SQLite is too old. */
export function openEmbedded(options: EmbeddedOptions): Embedded {
  const { dataDir, clock, random, log, schedule = setImmediate } = options;
  if (dataDir !== ":memory:") makeFolder(dataDir);
  const database = openDatabase(dataDir, { makeRoom: () => giveUpReserve(dataDir) });
  const { db, reader } = database;
  const disk = database.path === undefined ? noDisk : openDisk(options, db, database.path);
  const sync = options.sync ?? database.sync;
  const writer = new Writer(db, {
    schedule,
    after: (ms, task) => clock.after(ms, task),
    checkRoom: disk.checkRoom,
    makeRoom: disk.makeRoom,
    ...(sync && { sync }),
    ...(options.metrics && { metrics: options.metrics }),
    afterCommit: disk.afterCommit,
    fatal: (error) => {
      if (sqliteCode(error.cause) === "damaged") database.suspect();
      log.error("store.failed", { error });
      options.fatal?.(error);
    },
  });
  const { store, positions, recovered } = openStore(options, db, writer);
  const archive = openArchive(store);
  const breathe = createBreathe(schedule);
  const stored = openRecordPorts(store, reader, breathe);
  const { giveWay, ...keptBodies } = openKeptBodies(store, disk.share);
  return {
    ...stored,
    records: disk.reclaiming(writer, stored.records, giveWay),
    keptBodies,
    messageLog: openMessageLog(store, archive, reader, breathe),
    deadLetters: openDeadLetters(store, archive, reader, breathe),
    groups: openGroups(db, writer, clock, random),
    schedules: openSchedules(db, writer),
    accounts: openAccounts(db, writer, store.tenants),
    indexes: openSearchIndexes(db, writer),
    auditLog: openAuditLog(db, writer),
    tokens: openTokenStore(writer, clock, store.windows, store.spent),
    bus: openBus(clock, log),
    ids: openIds(positions, random),
    sizes: openSizes(reader),
    recovered,
    waitMs: () => writer.waitMs,
    commits: () => writer.commits,
    start: disk.start,
    close: async () => {
      await disk.rest();
      await store.counts.close();
      await writer.close();
      await disk.close();
      database.close();
    },
  };
}

function openStore(
  { clock, log }: EmbeddedOptions,
  db: DatabaseSync,
  writer: Writer,
): { readonly store: Store; readonly positions: Positions; readonly recovered: Recovered } {
  const finished = openFinished();
  const claimed = new Set<number>();
  const backlog = openBacklog();
  const recovered = recover(db, clock, log, { backlog, claimed, finished });
  const positions = openPositions(clock, lastPosition(db));
  const queues = openQueueRows(db);
  const tenants = openTenantKeys(db, writer);
  const counts = openEventCounts({ db, writer, tenants, clock, log });
  const terms = openTerms(db);
  const parts = {
    db,
    clock,
    positions,
    tenants,
    windows: openWindows(db, clock),
    names: openNames(db, positions),
    terms,
    configurations: openConfigurations(db, terms),
    wholes: openWholeRows(db),
    lanes: openLanes(db, clock),
    queues,
  };
  const fanOuts = openFanOuts(parts);
  const store = {
    ...parts,
    writer,
    log,
    finished,
    backlog,
    claimed,
    outbox: openOutbox(db),
    spent: openSpent(db, clock),
    recent: openRecent(),
    fanOuts,
    alarms: {
      flow: parts.lanes,
      queue: queues,
      fanOut: fanOuts,
      schedule: openScheduleAlarms(db, log),
      bulkAction: openBulkAlarms(db, log),
      run: openRunAlarms(db, log),
    },
    runAttempts: openRunAttempts(db),
    counts,
    events: openEvents({ db, writer, tenants }, counts),
    letters: openLetters(db),
    keeping: openKeeping(db),
    turns: openTurns(db, queues),
  };
  return { store, positions, recovered };
}

function lastPosition(db: DatabaseSync): number {
  const row = db
    .prepare(
      `
      SELECT max(coalesce((SELECT max(position) FROM messages), 0),
        coalesce((SELECT max(position) FROM configurations), 0),
        coalesce((SELECT max(last) FROM fan_outs), 0),
        coalesce((SELECT max(position) FROM runs), 0)) AS last`,
    )
    .get();
  return integer(row?.["last"]);
}
