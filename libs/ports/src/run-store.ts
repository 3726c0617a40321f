/**
 * The store of runs: heads and parts (docs/design/runs). A change is one conditional write of the head. The records that it
 * causes are inserted with it, or after it from the deliveries that the head remembers.
 *
 * A call that rejects has an unknown outcome; repeating it with the same arguments is safe.
 */
import {
  type HistoryEntry,
  type InRun,
  type MessageId,
  type MessageRecord,
  type Run,
  type RunId,
  type RunPart,
  type RunRef,
  type TenantId,
} from "@posthaste/domain";
import { type Intake } from "./intake.ts";

/** The newest run of the id if `createdAt` is absent. */
export type RunAddress = {
  readonly tenant: TenantId;
  readonly id: RunId;
  readonly createdAt?: number;
};

/** The contents of a change: the next head, the parts that it names, and the deliveries that it causes. */
export type RunWrite = {
  readonly run: Run;
  readonly parts: readonly RunPart[];
  readonly deliveries: readonly MessageRecord[];
};

/** Without `write`, nothing is written. */
export type Decision<V> = {
  readonly verdict: V;
  readonly write?: RunWrite;
  /** Absent if the write continues accepted work. */
  readonly intake?: "new";
};

/** Returns the write of a head alone. */
export const headAlone = (run: Run): RunWrite => ({ run, parts: [], deliveries: [] });

/** Decides to write the next head if there is one. The verdict reports whether there is. */
export const headIfChanged = (next: Run | false | undefined): Decision<boolean> =>
  next ? { verdict: true, write: headAlone(next) } : { verdict: false };

export type StartedRun =
  | { readonly kind: "started"; readonly run: Run }
  /** A run of this id is active, or a run of this root exists. */
  | { readonly kind: "known"; readonly run: Run };

/**
 * The parts that a resumed run copies from `of`: all entries, the parts named in `names`, and, for steps that wait
 * for nothing, the parts that the log shows beside their results (`isOfLog`). Missing parts are left out.
 */
export type Inherited = { readonly of: Run; readonly names: readonly string[] };

/** `after`: the time at which a run of this id was made; the next one is made later. `before`: that run, unless it was swept. */
export type NextUse = {
  readonly generation: number;
  readonly after: number;
  readonly before?: Run;
};

/**
 * The body to send for a delivery: "unwanted" means send nothing any more, "wanted" the record's own body, otherwise
 * the history up to the delivery's own entry, which has rank `rank`. `entries`: the entries of that history from the
 * requested rank on.
 */
export type Briefing =
  | "unwanted"
  | "wanted"
  | { readonly rank: number; readonly entries: readonly HistoryEntry[] };

export interface RunStore {
  /** Starts a run. Asks `make` for the run as the next use of its id; may ask again. */
  start(
    tenant: TenantId,
    id: RunId,
    intake: Intake,
    make: (use: NextUse) => RunWrite,
  ): Promise<StartedRun>;
  /**
   * Resumes a failed run: starts a run that has parts of another as its own. Returns "gone" when some of those parts no longer
   * exist.
   */
  resume(
    tenant: TenantId,
    id: RunId,
    inherited: Inherited,
    make: (use: NextUse) => RunWrite,
  ): Promise<StartedRun | "gone">;
  /** Reads, decides and writes atomically. `decide` is pure and may be called again. Returns undefined when there is no such run. */
  change<V>(
    address: RunAddress | RunRef,
    decide: (run: Run) => Decision<V>,
  ): Promise<V | undefined>;
  get(address: RunAddress | RunRef): Promise<Run | undefined>;
  byRoot(root: MessageId): Promise<Run | undefined>;
  /** Returns the newest run that continues one of this id: of the active ones, or of all if none is active. */
  byAlias(tenant: TenantId, id: RunId): Promise<Run | undefined>;
  /** Returns runs that wait for an event, in an order of the store's own. */
  waiting(
    tenant: TenantId,
    event: string,
    after: RunRef | undefined,
    limit: number,
  ): Promise<readonly RunRef[]>;
  /** Returns undefined when the run has no such part. */
  part(run: RunRef, name: string): Promise<RunPart | undefined>;
  /** Returns entries of the history from rank `from` on, as many as `runReadBytesMax` holds; none after the last. */
  history(run: Run, from: number): Promise<readonly HistoryEntry[]>;
  /** Returns the bodies to send for claimed deliveries. A delivery that is not its record's first is over if its entry is answered. */
  brief(deliveries: readonly BriefFor[]): Promise<readonly Briefing[]>;
  /** Removes runs of a tenant that ended before `endedBefore`, and everything that belongs to them. Returns how many. */
  sweep(tenant: TenantId, endedBefore: number, limit: number): Promise<number>;
}

/** `from`: the rank from which on entries are requested. */
export type BriefFor = {
  readonly run: InRun;
  readonly epoch: number;
  readonly from: number;
};
