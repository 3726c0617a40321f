/**
 * The way to the server: made in the background and watched by a heartbeat, so that opening does not wait.
 *
 * (1) until the server has answered and all indexes are made, every call rejects as `unavailable`. The problem says which are being made.
 * (2) one log line when it comes up and one when it goes down.
 */
import { beatsName, type StoredBeat, writeBeat } from "./beats.ts";
import { type Clock, type Log, pause, type Random, within } from "@posthaste/ports";
import {
  type Db,
  type DbOptions,
  type Document,
  MongoClient,
  type MongoClientOptions,
  ReadConcern,
} from "mongodb";
import { type Connection, type Heavy } from "./connection.ts";
import { isDuplicate } from "./failures.ts";
import { createGate } from "./gate.ts";
import { startHeartbeat } from "./heartbeat.ts";
import { createIndexBuilder } from "./index-builder.ts";
import { type Index } from "./indexes.ts";
import { type Again, bounded, createPatience, notYetOpen } from "./retry.ts";
import { createStoreClock } from "./store-clock.ts";

/** Texts in PEM. */
type Tls = {
  /** The authorities that are believed; those of Node when absent. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
};

export type LinkOptions = {
  /** `mongodb://…`; may carry credentials and TLS, so it is never logged. */
  readonly uri: string;
  readonly tls?: Tls;
  readonly database: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Says of a failure to connect what an operator can do; undefined where the failure says it itself. */
  readonly explain?: (error: unknown) => string | undefined;
  /** How long a call tries on while the server is away. Default 2.5 s, so that a publish is answered within 3. */
  readonly patienceMs?: number;
};

export type Link = {
  readonly isUp: () => boolean;
  /** Why calls would not be answered. */
  readonly problem: () => string | undefined;
  readonly connection: Connection;
  /** With connections of its own: renewals never stand in line behind slow calls. */
  readonly aside: Connection;
  /** Calls that were made, repeated ones included. */
  readonly calls: () => number;
  readonly close: () => Promise<void>;
  /** Removes the database; for tests. */
  readonly drop: () => Promise<void>;
};

export function openLink(options: LinkOptions, indexes: readonly Index[]): Link {
  const { clock, database, log, random, explain, patienceMs = patienceMsDefault } = options;
  const open = (connections: number, silenceMs: number): MongoClient =>
    new MongoClient(options.uri, {
      ...clientOptions(patienceMs, connections),
      ...(options.tls && tlsOptions(options.tls)),
      socketTimeoutMS: silenceMs,
    });
  const silenceMs = 4 * patienceMs;
  const main = open(connectionsMax, silenceMs);
  const side = open(asideConnectionsMax, silenceMs);
  const lists = open(heavyConnectionsMax, silenceMs);
  // An index takes the server its time, in which the connection is silent. That a server is gone the driver's own monitor notices.
  const building = open(1, 0);
  const of = (client: MongoClient, name = database): Db => client.db(name, concerns(patienceMs));
  const builder = createIndexBuilder(building.db(database, concerns(0)), indexes);
  const gate = createGate(clock, { ...heavyBounds, waitMsMax: patienceMs });
  const storeClock = createStoreClock(clock);
  const { again, answered, probe, refusal } = createPatience(clock, random, patienceMs);
  let prepared = false;
  let calls = 0;

  const beats = of(side).collection<StoredBeat>(beatsName);

  const look = async (): Promise<void> => {
    if (!prepared) {
      // Both at once: a client that connects after it was closed is open again, for good.
      await Promise.all([main.connect(), side.connect(), lists.connect()]);
      await within(clock, patienceMs, builder.build(), () => new Error(builder.progress()));
      prepared = true;
      await building.close();
    }
    const sentMs = clock.now();
    // `hello` by the older name that every server knows.
    const { localTime } = await of(side, "admin").command({ isMaster: 1 });
    if (localTime instanceof Date) storeClock.measured(sentMs, localTime.getTime(), clock.now());
    // A server greets, and answers reads, also while it takes no write: only one with the concern of the inserts tells.
    await probe(async () => {
      await writeBeat(beats).catch(notTheFirst);
    });
    answered();
  };
  const heartbeat = startHeartbeat({ clock, log, database, explain }, () =>
    bounded(clock, patienceMs, look()),
  );
  // A look may be under way for as long as calls have been refused.
  const problem = (): string | undefined => heartbeat.problem() ?? refusal();
  const isUp = (): boolean => problem() === undefined;

  const counted: Again = (task) => {
    if (!prepared) return Promise.reject(notYetOpen(problem()));
    return again(() => {
      calls += 1;
      return task();
    });
  };
  const heavy: Heavy = {
    collection: <T extends Document>(name: string) => of(lists).collection<T>(name),
    again: (tenant) => (task) => gate.run(tenant, () => counted(task)),
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
    calls: () => calls,
    close: async () => {
      builder.end();
      const stopped = heartbeat.stop();
      await Promise.all([main.close(), side.close(), lists.close(), building.close()]);
      await stopped;
    },
    drop: async () => {
      await of(main).dropDatabase();
    },
  };
}

/** Two processes may make the same document at once: the server that takes writes refuses one of them. */
function notTheFirst(error: unknown): void {
  if (!Error.isError(error) || !("code" in error) || !isDuplicate({ code: Number(error.code) }))
    throw error;
}

const patienceMsDefault = 2_500;
const connectionsMax = 20;
const asideConnectionsMax = 2;
const heavyConnectionsMax = 8;
/** As many as have connections, and of one tenant its part. */
const heavyBounds = { tasksMax: heavyConnectionsMax, tasksPerOwnerMax: 3, waitingMax: 1_000 };

/** Of the database and not of the client: an address that says `journal=false` would make writes less durable (I1). */
const concerns = (wtimeoutMS: number): DbOptions => ({
  writeConcern: { w: "majority", journal: true, ...(wtimeoutMS > 0 && { wtimeoutMS }) },
  readConcern: new ReadConcern("local"),
  readPreference: "primary",
});

function clientOptions(patienceMs: number, maxPoolSize: number): MongoClientOptions {
  return {
    appName: "posthaste",
    maxPoolSize,
    // A black hole is noticed by the driver's own monitor after heartbeat and connect timeout, and its calls repeated.
    heartbeatFrequencyMS: 1_000,
    connectTimeoutMS: patienceMs,
    serverSelectionTimeoutMS: patienceMs,
    waitQueueTimeoutMS: patienceMs,
    // `again` repeats, whatever the call and whatever the server.
    retryWrites: false,
    retryReads: false,
    ignoreUndefined: true,
    promoteBuffers: true,
  };
}

/** Whatever of it is given wants TLS. */
function tlsOptions({ ca, certificate, key }: Tls): MongoClientOptions {
  if ((ca ?? certificate) === undefined) return {};
  return {
    tls: true,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
  };
}
