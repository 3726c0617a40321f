/** All storage and bus ports of one process, over one data directory. */
import { mkdirSync } from "node:fs";
import { type DatabaseSync } from "node:sqlite";
import {
  type Accounts,
  type Clock,
  type DeadLetters,
  type EventBus,
  type Groups,
  type Ids,
  type Log,
  type MessageLog,
  type MessageStore,
  type Random,
  type SearchIndexes,
  type Sizes,
  type TokenStore,
} from "@posthaste/ports";
import { openAccounts } from "./accounts.ts";
import { openArchive } from "./archive.ts";
import { openBus } from "./bus.ts";
import { openCheckpoints } from "./database/checkpoints.ts";
import { sqliteCode } from "./database/failures.ts";
import { type Database, openDatabase } from "./database/open.ts";
import { integer } from "./database/rows.ts";
import { Writer } from "./database/writer.ts";
import { openDeadLetters } from "./dead-letters.ts";
import { openFreeSpace } from "./disk/free-space.ts";
import { openReserve } from "./disk/reserve.ts";
import { openGroups } from "./groups.ts";
import { openLanes } from "./lanes.ts";
import { openLetters } from "./letters.ts";
import { openEvents } from "./log/events.ts";
import { openMessageLog } from "./log/message-log.ts";
import { openBacklog } from "./messages/backlog.ts";
import { openConfigurations } from "./messages/configurations.ts";
import { openFinished } from "./messages/finished.ts";
import { openNames } from "./messages/names.ts";
import { openOutbox } from "./messages/outbox.ts";
import { openRecent } from "./messages/recent.ts";
import { type Rooms } from "./messages/rooms.ts";
import { openMessageStore } from "./messages/store.ts";
import { openIds, openPositions, type Positions } from "./positions.ts";
import { recover, type Recovered } from "./recovery.ts";
import { openSearchIndexes } from "./search-indexes.ts";
import { openSizes } from "./sizes.ts";
import { openTenantKeys } from "./tenants.ts";
import { openTokenStore } from "./tokens/token-store.ts";
import { openWindows } from "./tokens/windows.ts";

export type EmbeddedOptions = {
  /** A directory, made if it is missing; `:memory:` keeps nothing. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Runs a task after the present turn of the event loop; a simulation brings its own. */
  readonly schedule?: (task: () => void) => void;
  /** For whoever counts: writes that became durable together, and how long that took. */
  readonly committed?: (writes: number, seconds: number) => void;
  /** The store has failed and takes nothing more: the process should end, non-zero. */
  readonly fatal?: (error: Error) => void;
  /** Size of the file that is given up when the disk is full. Default 64 MiB; 0 for none. */
  readonly reserveBytes?: number;
};

export type Embedded = {
  readonly messages: MessageStore;
  readonly log: MessageLog;
  readonly deadLetters: DeadLetters;
  readonly groups: Groups;
  readonly accounts: Accounts;
  readonly indexes: SearchIndexes;
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly ids: Ids;
  readonly sizes: Sizes;
  /** What was found at open. */
  readonly recovered: Recovered;
  /** Durable commits so far. */
  readonly commits: () => number;
  readonly close: () => Promise<void>;
};

/** Throws with one clear line when the directory is in use, the file is damaged or newer, or SQLite is too old. */
export function openEmbedded(options: EmbeddedOptions): Embedded {
  const { dataDir, clock, random, log, schedule = setImmediate } = options;
  if (dataDir !== ":memory:") mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = openDatabase(dataDir);
  const { db, reader } = database;
  const disk = openDisk(options, database);
  const checkpoints =
    database.path === undefined ? undefined : openCheckpoints(db, database.path, log);
  const writer = new Writer(db, {
    schedule,
    checkRoom: disk.checkRoom,
    makeRoom: disk.makeRoom,
    ...(database.sync && { sync: database.sync }),
    ...(options.committed && { committed: options.committed }),
    afterCommit: () => checkpoints?.afterCommit(),
    fatal: (error) => {
      if (sqliteCode(error.cause) === "damaged") database.suspect();
      log.error("store.failed", { error });
      options.fatal?.(error);
    },
  });
  const { rooms, positions, recovered } = openRooms(options, db, writer);
  const archive = openArchive(db, rooms.names, rooms.configurations);
  const breathe = (): Promise<void> => new Promise((resolve) => schedule(resolve));
  return {
    messages: openMessageStore(rooms),
    log: openMessageLog(rooms, archive, reader, breathe),
    deadLetters: openDeadLetters(rooms, archive, reader, breathe),
    groups: openGroups(db, writer, clock, random),
    accounts: openAccounts(db, writer, rooms.tenants),
    indexes: openSearchIndexes(db, writer),
    tokens: openTokenStore(writer, clock, rooms.windows),
    bus: openBus(clock, log),
    ids: openIds(positions, random),
    sizes: openSizes(reader),
    recovered,
    commits: () => writer.commits,
    close: async () => {
      await writer.close();
      await checkpoints?.close();
      await disk.close();
      database.close();
    },
  };
}

function openRooms(
  { clock, log }: EmbeddedOptions,
  db: DatabaseSync,
  writer: Writer,
): { readonly rooms: Rooms; readonly positions: Positions; readonly recovered: Recovered } {
  const finished = openFinished();
  const backlog = openBacklog();
  const recovered = recover(db, clock, log, backlog, finished);
  const positions = openPositions(clock, lastPosition(db));
  const rooms = {
    db,
    writer,
    clock,
    log,
    finished,
    backlog,
    tenants: openTenantKeys(db, writer),
    windows: openWindows(db, clock),
    names: openNames(db, positions),
    configurations: openConfigurations(db),
    outbox: openOutbox(db),
    recent: openRecent(),
    lanes: openLanes(db, clock),
    events: openEvents(db),
    letters: openLetters(db),
  };
  return { rooms, positions, recovered };
}

type Disk = {
  readonly checkRoom: () => void;
  readonly makeRoom: () => boolean;
  readonly close: () => Promise<void>;
};

function openDisk(
  { dataDir, clock, log, reserveBytes = reserveBytesDefault }: EmbeddedOptions,
  database: Database,
): Disk {
  if (!database.sync)
    return { checkRoom: () => undefined, makeRoom: () => false, close: () => Promise.resolve() };
  const reserve = openReserve(dataDir, reserveBytes);
  let building = reserve.build();
  const checkRoom = openFreeSpace(dataDir, clock, (nearlyFull) => {
    log.warn(nearlyFull ? "store.disk_nearly_full" : "store.disk_has_room", {});
    if (!nearlyFull) building = reserve.build();
  });
  const makeRoom = (): boolean => {
    const made = reserve.giveUp();
    if (made) log.error("store.reserve_given_up", { dataDir });
    return made;
  };
  return { checkRoom, makeRoom, close: () => building };
}

const reserveBytesDefault = 64 * 1024 * 1024;

function lastPosition(db: DatabaseSync): number {
  const row = db
    .prepare(
      `
      SELECT max(coalesce((SELECT max(position) FROM messages), 0),
        coalesce((SELECT max(position) FROM configurations), 0)) AS last`,
    )
    .get();
  return integer(row?.["last"]);
}
