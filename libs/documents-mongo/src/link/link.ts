/**
 * The connection to the server: made in the background and watched by a heartbeat, so that opening does not wait.
 *
 * (1) until the server has answered and has all that a process needs, every call rejects as `unavailable`; `problem`
 *     says what is missing.
 * (2) one log line is written when the server comes up, and one when it goes down.
 */
import { beatsName, type StoredBeat, writeBeat } from "./beats.ts";
import {
  type Clock,
  isStoreError,
  type Log,
  pause,
  type Random,
  StoreError,
} from "@posthaste/ports";
import { type Db, type Document, type MongoClient } from "mongodb";
import {
  type Address,
  databaseOf,
  noTimeout,
  openClient,
  patienceMsDefault,
  silencesMs,
} from "./clients.ts";
import { type Connection, type Heavy } from "../connection.ts";
import { isTooLong } from "./failures.ts";
import { createGate } from "./gate.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { type Index } from "../indexes.ts";
import { migrations } from "../preparation/formats.ts";
import { unlessDuplicate } from "../preparation/lease.ts";
import { createPreparation } from "../preparation/preparation.ts";
import { type Again, bounded, createPatience, notYetOpen } from "./retry.ts";
import { createStoreClock } from "./store-clock.ts";

export type LinkOptions = Address & {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Returns what an operator can do about a failure to connect; undefined if the failure says so itself. */
  readonly explain?: (error: unknown) => string | undefined;
  /** How long a call is repeated while the server is away. Default 2.5 s, so that a publish is answered within 3. */
  readonly patienceMs?: number;
  /** Connections for all calls but heavy reads. Default 20. */
  readonly pool?: number;
  /** Connections for heavy reads. Default 8. */
  readonly heavyPool?: number;
  /** How long the server works on one heavy read. Default 2 s. */
  readonly heavyMs?: number;
};

export type Link = {
  readonly isUp: () => boolean;
  readonly problem: () => string | undefined;
  /** Returns which indexes are missing while calls are answered: some lists take longer, or too long. */
  readonly building: () => string | undefined;
  readonly connection: Connection;
  /** Has connections of its own, so that renewals never wait behind slow calls. */
  readonly aside: Connection;
  readonly calls: () => number;
  readonly close: () => Promise<void>;
  /** Removes the database; for tests. */
  readonly drop: () => Promise<void>;
};

export function openLink(options: LinkOptions, indexes: readonly Index[]): Link {
  const { clock, database, log, random, explain, patienceMs = patienceMsDefault } = options;
  const {
    pool = connectionsMax,
    heavyPool = heavyConnectionsMax,
    heavyMs = heavyMsDefault,
  } = options;
  const open = (connections: number, silenceMs: number): MongoClient =>
    openClient(options, { connections, patienceMs, silenceMs });
  const silenceMs = silencesMs * patienceMs;
  const main = open(pool, silenceMs);
  const side = open(asideConnectionsMax, silenceMs);
  const lists = open(heavyPool, silenceMs);
  // The server is silent while it builds an index. The driver's own monitor notices a server that has died.
  const building = open(1, noTimeout);
  const of = (client: MongoClient, name = database): Db => databaseOf(client, name, patienceMs);
  const preparation = createPreparation({
    ...{ clock, log, patienceMs, owner: random.text(ownerLength) },
    ...{ db: of(side), patientDb: databaseOf(building, database, noTimeout) },
    wanted: { indexes, migrations },
  });
  const gate = createGate(clock, { ...heavyBounds, tasksMax: heavyPool, waitMsMax: patienceMs });
  const storeClock = createStoreClock(clock);
  const { again, answered, probe, refusal } = createPatience(clock, random, patienceMs);
  let connected = false;
  let prepared = false;
  let calls = 0;

  const beats = of(side).collection<StoredBeat>(beatsName);

  const look = async (): Promise<void> => {
    if (!connected) {
      // All at once: a client that connects after it was closed stays open.
      await Promise.all([main.connect(), side.connect(), lists.connect()]);
      connected = true;
    }
    if (!preparation.isDone()) {
      await preparation.look();
      prepared = true;
      if (preparation.isDone()) await building.close();
    }
    const sentMs = clock.now();
    // `isMaster` is the older name of `hello`, which every server knows.
    const { localTime } = await of(side, "admin").command({ isMaster: 1 });
    if (localTime instanceof Date) storeClock.measured(sentMs, localTime.getTime(), clock.now());
    // A server may answer `hello` and reads while it accepts no write; only a write with the concern of the inserts shows that.
    await probe(async () => {
      await writeBeat(beats).catch(unlessDuplicate);
    });
    answered();
  };
  const heartbeat = startHeartbeat({ clock, log, database, explain }, () =>
    bounded(clock, patienceMs, look()),
  );
  // A check may hang while calls are already refused, so both are asked.
  const problem = (): string | undefined => heartbeat.problem() ?? refusal();
  const isUp = (): boolean => problem() === undefined;

  const counted: Again = (task) => {
    if (!prepared) return Promise.reject(notYetOpen(problem()));
    return again(() => {
      calls += 1;
      return task();
    });
  };
  const forWantOfAnIndex = (error: unknown): never => {
    const missing = preparation.building();
    if (missing === undefined || !isStoreError(error) || !isTooLong(error.cause)) throw error;
    const text = `this takes too long without its index: ${missing}`;
    throw new StoreError("indexing", text, { cause: error });
  };
  const heavy: Heavy = {
    collection: <T extends Document>(name: string) => of(lists).collection<T>(name),
    again: (tenant) => (task) => gate.run(tenant, () => counted(task)).catch(forWantOfAnIndex),
    msMax: heavyMs,
  };
  const connect = (client: MongoClient): Connection => {
    const db = of(client);
    return {
      db,
      collection: <T extends Document>(name: string) => db.collection<T>(name),
      again: counted,
      heavy,
      clock: storeClock,
      pause: (ms) => pause(clock, ms),
      random,
      log,
    };
  };
  return {
    connection: connect(main),
    aside: connect(side),
    isUp,
    problem,
    building: preparation.building,
    calls: () => calls,
    close: async () => {
      await preparation.end();
      const stopped = heartbeat.stop();
      await Promise.all([main.close(), side.close(), lists.close(), building.close()]);
      await stopped;
    },
    drop: async () => {
      await of(main).dropDatabase();
    },
  };
}

const connectionsMax = 20;
const asideConnectionsMax = 2;
const heavyConnectionsMax = 8;
const heavyMsDefault = 2_000;
const ownerLength = 12;
/** Bounds of the gate beside its `tasksMax`, the number of connections for heavy reads. */
const heavyBounds = { tasksPerOwnerMax: 3, waitingMax: 1_000 };
