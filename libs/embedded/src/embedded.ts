/** All storage and bus ports of one process, over one data directory. */
import { mkdirSync } from "node:fs";
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
  type TokenStore,
} from "@posthaste/ports";
import { openAccounts } from "./accounts.ts";
import { openBus } from "./bus.ts";
import { openDatabase } from "./database/open.ts";
import { integer } from "./database/rows.ts";
import { Writer } from "./database/writer.ts";
import { openLanes } from "./lanes.ts";
import { openLetters } from "./letters.ts";
import { openEvents } from "./log/events.ts";
import { openBacklog } from "./messages/backlog.ts";
import { openConfigurations } from "./messages/configurations.ts";
import { openFinished } from "./messages/finished.ts";
import { openNames } from "./messages/names.ts";
import { openOutbox } from "./messages/outbox.ts";
import { openMessageStore } from "./messages/store.ts";
import { openIds, openPositions } from "./positions.ts";
import { recover, type Recovered } from "./recovery.ts";
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
  /** The store has failed and takes nothing more: the process should end, non-zero. */
  readonly fatal?: (error: Error) => void;
};

export type Embedded = {
  readonly messages: MessageStore;
  readonly accounts: Accounts;
  readonly tokens: TokenStore;
  readonly bus: EventBus;
  readonly ids: Ids;
  /** What was found at open. */
  readonly recovered: Recovered;
  /** Durable commits so far. */
  commits(): number;
  close(): Promise<void>;
};

/** Throws with one clear line when the directory is in use, the file is damaged or newer, or SQLite is too old. */
export function openEmbedded(options: EmbeddedOptions): Embedded {
  const { dataDir, clock, random, log } = options;
  if (dataDir !== ":memory:") mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const database = openDatabase(dataDir);
  const { db } = database;
  const writer = new Writer(db, {
    schedule: options.schedule ?? setImmediate,
    makeRoom: () => false,
    fatal: options.fatal ?? ((error) => log.error("store.failed", { error })),
  });
  const finished = openFinished();
  const backlog = openBacklog();
  const recovered = recover(db, clock, backlog, finished);
  const positions = openPositions(clock, lastPosition(db));
  const tenants = openTenantKeys(db, writer);
  const windows = openWindows(db, clock);
  const rooms = {
    db,
    writer,
    clock,
    log,
    tenants,
    windows,
    finished,
    backlog,
    names: openNames(db, positions),
    configurations: openConfigurations(db),
    outbox: openOutbox(db),
    lanes: openLanes(db, clock),
    events: openEvents(db),
    letters: openLetters(db),
  };
  return {
    messages: openMessageStore(rooms, () => undefined),
    accounts: openAccounts(db, writer, tenants),
    tokens: openTokenStore(writer, clock, windows),
    bus: openBus(clock, log),
    ids: openIds(positions, random),
    recovered,
    commits: () => writer.commits,
    close: async () => {
      writer.close();
      database.close();
    },
  };
}

function lastPosition(db: ReturnType<typeof openDatabase>["db"]): number {
  const row = db
    .prepare(`
      SELECT max(coalesce((SELECT max(position) FROM messages), 0),
        coalesce((SELECT max(position) FROM configurations), 0)) AS last`)
    .get();
  return integer(row?.["last"]);
}
