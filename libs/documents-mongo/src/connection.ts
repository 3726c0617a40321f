/** What every room of the documents gets to work with. */
import { type TenantId } from "@posthaste/domain";
import { type Clock, type Log, type Random } from "@posthaste/ports";
import { type Collection, type Db, type Document } from "mongodb";
import { type Committed } from "./committed.ts";
import { type EventCounts } from "./event-counts.ts";
import { type Again } from "./retry.ts";

/** For lists, counts and walks: connections of their own, so that an insert waits for none of these. */
export type Heavy = {
  readonly collection: <T extends Document>(name: string) => Collection<T>;
  /** As `Connection.again`, when the tenant may; refused as `overloaded` where too many wait. A read says `maxTimeMS(heavyMsMax)`. */
  readonly again: (tenant: TenantId) => Again;
};

/** Below what a call waits for a connection (link.ts): what the server works longer on would be worked for no caller. */
export const heavyMsMax = 2_000;

export type Connection = {
  readonly db: Db;
  /** Reads from the primary, writes with majority and journal (I1). */
  readonly collection: <T extends Document>(name: string) => Collection<T>;
  /** Every call to the server goes through it: it repeats what a network took, and says what failed as the port does. */
  readonly again: Again;
  readonly heavy: Heavy;
  /** The store's time: due times are compared with it. */
  readonly clock: Clock;
  /** By this process' own time. */
  readonly pause: (ms: number) => Promise<void>;
  readonly random: Random;
  readonly log: Log;
  readonly committed?: Committed;
  readonly counts?: EventCounts;
};
