/** How the driver is asked to connect, whichever part of the adapter asks. */
import {
  type Db,
  type DbOptions,
  MongoClient,
  type MongoClientOptions,
  ReadConcern,
} from "mongodb";

/** Texts in PEM. */
type Tls = {
  /** The authorities that are believed; those of Node when absent. */
  readonly ca?: string | undefined;
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
};

export type Address = {
  /** `mongodb://…`; may carry credentials and TLS, so it is never logged. */
  readonly uri: string;
  readonly tls?: Tls;
  readonly database: string;
};

export type ClientOptions = {
  readonly connections: number;
  readonly patienceMs: number;
  /** How long a connection may say nothing during a call. */
  readonly silenceMs: number;
};

/** How long a call tries on while the server is away, so that a publish is answered within 3 s. */
export const patienceMsDefault = 2_500;
/** A connection may be silent for so many patiences. */
export const silencesMs = 4;
/** Of a silence, and of what a write waits for a majority. */
export const forEver = 0;

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

/** Of the database and not of the client: an address that says `journal=false` would make writes less durable (I1). */
const concerns = (wtimeoutMS: number): DbOptions => ({
  writeConcern: { w: "majority", journal: true, ...(wtimeoutMS > 0 && { wtimeoutMS }) },
  readConcern: new ReadConcern("local"),
  readPreference: "primary",
});

function optionsOf(patienceMs: number, maxPoolSize: number): MongoClientOptions {
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
