/**
 * Runs: heads and parts (docs/design/runs). A change is one conditional write of the head; what it makes of records is
 * inserted with it, or after it from what the head remembers of it.
 *
 * A call that rejects has an unknown outcome: repeating it with the same arguments is safe.
 */
import {
  type HistoryEntry,
  type InRun,
  type MessageId,
  type MessageRecord,
  type Run,
  type RunId,
  type RunPart,
  type TenantId,
} from "@posthaste/domain";
import { type Intake } from "./intake.ts";

/** Without a time the newest of that id is meant. */
export type RunAddress = {
  readonly tenant: TenantId;
  readonly id: RunId;
  readonly createdAt?: number;
};

/** What a change writes: the next head, parts that it names, and the deliveries that it causes. */
export type RunWrite = {
  readonly run: Run;
  readonly parts: readonly RunPart[];
  readonly deliveries: readonly MessageRecord[];
};

/** Nothing is written where there is no `write`. */
export type Decision<V> = {
  readonly verdict: V;
  readonly write?: RunWrite;
  /** Absent: the write goes on with the run. */
  readonly intake?: "new";
};

export type StartedRun =
  | { readonly kind: "started"; readonly run: Run }
  /** Of this id one is active, or of this root there is one. */
  | { readonly kind: "known"; readonly run: Run };

/**
 * All entries of `of`, its parts of these names, and of its steps that wait for nothing what its log tells beside their results
 * (`isOfLog`): of these what is there.
 */
export type Inherited = { readonly of: Run; readonly names: readonly string[] };

/** `after`: a run of this id was made then; a later one is made after it. `before`: that run, unless it was swept. */
export type NextUse = {
  readonly generation: number;
  readonly after: number;
  readonly before?: Run;
};

/**
 * What is to be sent: nothing any more, the record's own body, or the history up to the delivery's own entry, which has that
 * rank. `entries`: of these, those from the rank on that was asked for.
 */
export type Briefing =
  | "over"
  | "wanted"
  | { readonly rank: number; readonly entries: readonly HistoryEntry[] };

export interface RunStore {
  /** `make` is asked for the run as the next use of its id, and may be asked again. */
  start(
    tenant: TenantId,
    id: RunId,
    intake: Intake,
    make: (use: NextUse) => RunWrite,
  ): Promise<StartedRun>;
  /** Goes on with a failed run: a start of a run that has parts of another as its own. "gone": the other has not all of them any more. */
  resume(
    tenant: TenantId,
    id: RunId,
    inherited: Inherited,
    make: (use: NextUse) => RunWrite,
  ): Promise<StartedRun | "gone">;
  /** Reads, decides, writes, as one. `decide` is pure and may be asked again. Undefined: there is no such run. */
  change<V>(
    address: RunAddress | Pick<InRun, "key" | "root">,
    decide: (run: Run) => Decision<V>,
  ): Promise<V | undefined>;
  get(address: RunAddress | Pick<InRun, "key" | "root">): Promise<Run | undefined>;
  byRoot(root: MessageId): Promise<Run | undefined>;
  /** The newest that goes on from one of this id: of those that are active, or where none is, of all. */
  byAlias(tenant: TenantId, id: RunId): Promise<Run | undefined>;
  /** Runs that wait for an event, in an order of the store's own. */
  waiting(
    tenant: TenantId,
    event: string,
    after: Pick<InRun, "key" | "root"> | undefined,
    limit: number,
  ): Promise<readonly Pick<InRun, "key" | "root">[]>;
  /** Undefined: the run has no such part. */
  part(run: Pick<Run, "key" | "root">, name: string): Promise<RunPart | undefined>;
  /** Entries of the history from that rank on, as many as `runReadBytesMax` holds; none behind the last. */
  history(run: Run, from: number): Promise<readonly HistoryEntry[]>;
  /** For claimed deliveries: one that is not the first of its record is over if its entry is answered. */
  brief(deliveries: readonly BriefFor[]): Promise<readonly Briefing[]>;
  /** Removes runs of a tenant that ended before, and what belongs to them. Answers how many. */
  sweep(tenant: TenantId, endedBefore: number, limit: number): Promise<number>;
}

/** `from`: the rank from which on entries are asked for. */
export type BriefFor = {
  readonly run: InRun;
  readonly epoch: number;
  readonly from: number;
};
