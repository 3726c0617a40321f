/** The connections, clock and helpers that every room of this adapter gets. */
import { type TenantId } from "@posthaste/domain";
import { type Clock, type Log, type Random } from "@posthaste/ports";
import { type Collection, type Db, type Document } from "mongodb";
import { type Committed } from "./committed.ts";
import { type EventCounts } from "./event-counts.ts";
import { type Again } from "./retry.ts";

/** Connections of their own for lists, counts and walks, so that no insert waits for them. */
export type Heavy = {
  readonly collection: <T extends Document>(name: string) => Collection<T>;
  /**
   * As `Connection.again`, as soon as the gate lets the tenant in; rejects as `overloaded` where too many wait. Each read
   * sets `maxTimeMS(msMax)`.
   */
  readonly again: (tenant: TenantId) => Again;
  /** How long the server works on one read. Below the patience: a caller would not wait for a longer read. */
  readonly msMax: number;
};

export type Connection = {
  readonly db: Db;
  /** Reads from the primary, writes with majority and journal (I1). */
  readonly collection: <T extends Document>(name: string) => Collection<T>;
  /** Makes every call to the server: repeats a call that a network failure took, and rejects with the port's errors. */
  readonly again: Again;
  readonly heavy: Heavy;
  /** The store's time, with which due times are compared. */
  readonly clock: Clock;
  readonly pause: (ms: number) => Promise<void>;
  readonly random: Random;
  readonly log: Log;
  readonly committed?: Committed;
  readonly counts?: EventCounts;
};
