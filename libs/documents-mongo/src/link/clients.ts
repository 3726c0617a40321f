/** The options with which all parts of the adapter connect. */
import {
  type Db,
  type DbOptions,
  MongoClient,
  type MongoClientOptions,
  ReadConcern,
} from "mongodb";

type Tls = {
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
};

export type Address = {
  /** `mongodb://…`. May carry credentials and TLS settings, so it is never logged. */
  readonly uri: string;
  readonly tls?: Tls;
  readonly database: string;
};

export type ClientOptions = {
  readonly connections: number;
  readonly patienceMs: number;
  readonly silenceMs: number;
};

/** How long a call is repeated while the server is away. A publish is so answered within 3 s. */
export const patienceMsDefault = 2_500;
/** The longest silence of a connection, as a multiple of `patienceMs`. */
export const silencesMs = 4;
/** Turns off the limit on a connection's silence, or on the wait of a write for a majority. */
export const noTimeout = 0;

export const openClient = (
  { tls, uri }: Address,
  { connections, patienceMs, silenceMs }: ClientOptions,
): MongoClient =>
  new MongoClient(uri, {
    ...optionsOf(patienceMs, connections),
    ...(tls && tlsOptions(tls)),
    socketTimeoutMS: silenceMs,
  });

export const databaseOf = (client: MongoClient, name: string, wtimeoutMS: number): Db =>
  client.db(name, concerns(wtimeoutMS));

/** Set on the database and not on the client: an address that says `journal=false` would make writes less durable (I1). */
const concerns = (wtimeoutMS: number): DbOptions => ({
  writeConcern: { w: "majority", journal: true, ...(wtimeoutMS > 0 && { wtimeoutMS }) },
  readConcern: new ReadConcern("local"),
  readPreference: "primary",
});

function optionsOf(patienceMs: number, maxPoolSize: number): MongoClientOptions {
  return {
    appName: "posthaste",
    maxPoolSize,
    // The driver's monitor notices a black hole after heartbeat and connect timeout; its calls are then repeated.
    heartbeatFrequencyMS: 1_000,
    connectTimeoutMS: patienceMs,
    serverSelectionTimeoutMS: patienceMs,
    waitQueueTimeoutMS: patienceMs,
    // `again` repeats calls of every kind, on servers of every kind.
    retryWrites: false,
    retryReads: false,
    ignoreUndefined: true,
    promoteBuffers: true,
  };
}

function tlsOptions({ ca, certificate, key }: Tls): MongoClientOptions {
  if ((ca ?? certificate) === undefined) return {};
  return {
    tls: true,
    ...(ca !== undefined && { ca }),
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
  };
}
