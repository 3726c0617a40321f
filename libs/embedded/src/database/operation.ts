import { type Intake, StoreError } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";

/**
 * `new` is refused first when there are too many writes, or no space. `redoable` is work that is done again after a
 * crash has undone it: a claim, a ring, a lane's rest. Such an operation is urgent: it waits for no sync, neither its
 * own nor another's, and overtakes operations that do. So an operation whose result is answered to a caller is never
 * redoable. `patient` is redoable work for which nothing waits: such an operation joins the next transaction, and comes
 * before the reads of that.
 */
export type WriteKind = Intake | "redoable" | "patient";
/** `reading` runs after all operations that were queued before. `glancing` reads the current state, for redoable work. */
export type Kind = WriteKind | "reading" | "glancing";

/** The share of a transaction that an operation takes: records written, and bytes of their bodies. */
export type Weight = { readonly records: number; readonly bytes: number };

/** The work, the promise that is settled with it, and the result of its last run. */
export class Operation {
  readonly isUrgent: boolean;
  readonly isRead: boolean;
  readonly weight: Weight;
  /** When the operation was queued, by the monotonic clock. */
  readonly askedAtMs = performance.now();
  readonly #work: () => unknown;
  readonly #resolve: (value: never) => void;
  readonly #reject: (error: unknown) => void;
  #isNew: boolean;
  #value: unknown;
  #failed: { readonly error: unknown } | undefined;

  constructor(
    kind: Kind,
    weight: Weight,
    work: () => unknown,
    resolve: (value: never) => void,
    reject: (error: unknown) => void,
  ) {
    this.isUrgent = kind === "redoable" || kind === "patient" || kind === "glancing";
    this.isRead = kind === "reading" || kind === "glancing";
    this.#isNew = kind === "new";
    this.weight = weight;
    this.#work = work;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get isNew(): boolean {
    return this.#isNew;
  }

  /** Called when the work turns out to take on new work. */
  takeOn(): void {
    this.#isNew = true;
  }

  /** Throws what the work throws. */
  carryOut(): void {
    this.#failed = undefined;
    this.#value = this.#work();
  }

  fail(error: unknown): void {
    this.#failed = { error };
  }

  get error(): unknown {
    return this.#failed?.error;
  }

  /** Rejects the caller's promise: the work was not carried out. */
  refuse(error: unknown): void {
    this.#reject(error);
  }

  /** Settles the caller's promise with the result of the last run. */
  tell(): void {
    if (this.#failed) this.#reject(asStoreError(this.#failed.error));
    else this.#resolve(this.#value as never);
  }
}

const asStoreError = (error: unknown): unknown =>
  sqliteCode(error) === "full"
    ? new StoreError("disk_full", "the disk is full", { cause: error })
    : error;

/** Operations that share a transaction and are answered together. */
export type Batch = readonly Operation[];

/** Bounds of one transaction, during which nothing else runs. A larger operation has a transaction to itself. */
const recordsPerCommitMax = 1_024;
const bytesPerCommitMax = 8 * 1024 * 1024;

/**
 * Moves operations from the front of `queue` to `batch`: as many as fit into its transaction, and at least one.
 * Returns how many of them write.
 */
export function fill(batch: Operation[], queue: Operation[]): number {
  let records = 0;
  let bytes = 0;
  for (const { weight } of batch) {
    records += weight.records;
    bytes += weight.bytes;
  }
  let taken = 0;
  let writes = 0;
  for (const operation of queue) {
    records += operation.weight.records;
    bytes += operation.weight.bytes;
    if (batch.length > 0 && (records > recordsPerCommitMax || bytes > bytesPerCommitMax)) break;
    batch.push(operation);
    taken += 1;
    if (!operation.isRead) writes += 1;
  }
  queue.splice(0, taken);
  return writes;
}

/** Resolves the urgent operations, which come first in a batch. Returns the rest, which resolve after the sync. */
export function tellUrgent(batch: Batch): Batch {
  let urgent = 0;
  while (batch[urgent]?.isUrgent) batch[urgent++]?.tell();
  return batch.slice(urgent);
}

export function tell(batch: Batch): void {
  for (const operation of batch) operation.tell();
}

export function rejectAll(batch: Batch, error: unknown): void {
  for (const operation of batch) operation.refuse(error);
}
