/** The connections, clock and helpers that every part of this adapter gets. */
import { type TenantId, type LogEvent } from "@posthaste/domain";
import { type Clock, type Log, type Random, type MessageLog } from "@posthaste/ports";
import { type Collection, type Db, type Document } from "mongodb";
import { type Committed } from "./writes/committed.ts";
import { type Again } from "./link/retry.ts";

/** Separate connections for lists, counts and walks, so that no insert waits for them. */
export type Heavy = {
  readonly collection: <T extends Document>(name: string) => Collection<T>;
  /**
   * Is like `Connection.again`, but waits until the gate lets the tenant in. Rejects as `overloaded` if too many
   * wait. Each read must set `maxTimeMS(msMax)`.
   */
  readonly again: (tenant: TenantId) => Again;
  /** How long the server works on one read. Less than the patience, since no caller waits for a longer read. */
  readonly msMax: number;
};

export type Connection = {
  readonly db: Db;
  /** Returns a collection that is read from the primary and written with majority and journal (I1). */
  readonly collection: <T extends Document>(name: string) => Collection<T>;
  /** Makes a call to the server: repeats it after a failure of the network, and rejects with the port's errors. */
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

/** Receives the events that records and log write, to count them (message-log/counts.ts). */
export type EventCounts = {
  /** Counts an event that this process has written and that was not stored before. */
  add(tenant: TenantId, event: Pick<LogEvent, "at" | "state">): void;
  readonly read: MessageLog["counts"];
  sweep(tenant: TenantId, before: number): Promise<void>;
  close(): Promise<void>;
};
