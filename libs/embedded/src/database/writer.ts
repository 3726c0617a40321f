/**
 * Group commit: all operations that are queued during one commit are in the next, and one sync serves them. Owns the queue
 * and every transaction of the writing connection. Every write goes through `write`.
 *
 * (1) A promise of `write` resolves only after the sync of the commit that holds its work (I1). Until then only
 *     urgent operations run, so no other operation sees data that is not on the disk.
 * (2) Operations take effect in the order in which they were queued; so do the reads that must see them.
 * (3) An operation that throws is left out; the rest of its batch is carried out.
 * (4) After a failed sync nothing is carried out any more: the contents of the disk are then unknown.
 */
import { type DatabaseSync } from "node:sqlite";
import { type Metrics, noMetrics, StoreError } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";
import {
  type Batch,
  fill,
  type Kind,
  Operation,
  rejectAll,
  tell,
  tellUrgent,
  type Weight,
  type WriteKind,
} from "./operation.ts";
import { type Sync } from "./write-ahead-log.ts";

export type Connection = Pick<DatabaseSync, "exec" | "isTransaction">;

export type WriterOptions = {
  /** Runs a task after the present turn of the event loop: `setImmediate`, or a simulation's own. */
  readonly schedule: (task: () => void) => void;
  readonly after: (ms: number, task: () => void) => () => void;
  /** Absent when there is no disk, and so no sync. */
  readonly sync?: Sync;
  /** Throws when the disk has no space for new work. Absent if there is always space. */
  readonly checkRoom?: () => void;
  /** Called when the disk is full and ongoing work needs space. Returns whether it freed some. */
  readonly makeRoom: () => boolean;
  /**
   * Called after each commit, when its callers have been answered. A returned promise ends before the next commit; a rejection means that the
   * disk has failed.
   */
  readonly afterCommit: () => Promise<void> | undefined;
  /** Gets the writes that became durable together, and the seconds from the first of them to the sync's end. */
  readonly metrics?: Pick<Metrics, "observe">;
  /** Called once, when the store has become unusable. */
  readonly fatal: (error: Error) => void;
};

/** Bounds the queue. New work may fill half of it. */
const queuedMax = 65_536;
const queuedNewMax = queuedMax / 2;

/** How long an operation that may wait for a transaction of others waits at most. */
const patientMs = 20;

/** The ways: refusing new work, freeing space, refusing all; see `leaveOutForRoom`. */
const waysToRoom = 3;

export class Writer {
  readonly #db: Connection;
  readonly #options: WriterOptions;
  #queue: Operation[] = [];
  #urgent: Operation[] = [];
  /** Operations that join the next transaction, or have one of their own when the timer is up. */
  #patient: Operation[] = [];
  #timer: (() => void) | undefined;
  #scheduled = false;
  #effects: (() => void)[] = [];
  #carriedOut: Operation | undefined;
  #unusable: StoreError | undefined;
  #commits = 0;
  /** Resolves when the sync under way, and what follows it, has ended. */
  #syncing: Promise<void> | undefined;
  /** Work that needs the log to itself is under way: not even urgent operations may write. */
  #isHeld = false;
  /** The first operation that waits for the sync under way. */
  #unsynced: Operation | undefined;

  constructor(db: Connection, options: WriterOptions) {
    this.#db = db;
    this.#options = options;
  }

  get commits(): number {
    return this.#commits;
  }

  /** How long the oldest operation has waited for its turn, or for the sync of its commit. */
  get waitMs(): number {
    const oldest = this.#unsynced ?? this.#queue[0];
    return oldest ? performance.now() - oldest.askedAtMs : 0;
  }

  /** Carries `work` out in the next transaction. `work` is synchronous and may run twice, the first time undone. */
  write<T>(work: () => T, kind: WriteKind, weight: Weight = light): Promise<T> {
    return this.#enqueue(kind, work, weight);
  }

  /** Reads after all operations that were queued before. */
  read<T>(work: () => T): Promise<T> {
    return this.#enqueue("reading", work);
  }

  /** Reads committed data, without waiting for a sync. */
  glance<T>(work: () => T): Promise<T> {
    return this.#enqueue("glancing", work);
  }

  /**
   * Runs `effect` after the commit, for changes of memory that must follow the disk. For use inside `work`; dropped when the work is
   * undone.
   */
  onCommit(effect: () => void): void {
    this.#effects.push(effect);
  }

  /** Declares that ongoing work takes on new work too. For use inside `work`. Throws when there is no space. */
  takeOn(): void {
    this.#options.checkRoom?.();
    this.#carriedOut?.takeOn();
  }

  /** Carries out the queued operations and refuses later ones. */
  async close(): Promise<void> {
    await this.#syncing;
    this.#timer?.();
    this.#hurry();
    while (this.#waiting > 0 && !this.#unusable) this.#finishNow();
    this.#refuse(new StoreError("unavailable", "the store is closed"));
  }

  /** Runs `work` with the log to itself: it begins when no sync is under way, and nothing is written until it ends. */
  async alone(work: () => Promise<void>): Promise<void> {
    // Bounded by the turns of other callers of `alone`, each of which ends.
    while (this.#syncing) await this.#syncing;
    if (this.#unusable) return;
    await (this.#syncing = this.#held(work));
  }

  get #waiting(): number {
    return this.#queue.length + this.#urgent.length + this.#patient.length;
  }

  #enqueue<T>(kind: Kind, work: () => T, weight = light): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#unusable) return reject(this.#unusable);
      if (kind === "new") this.#options.checkRoom?.();
      if (this.#waiting >= (kind === "new" ? queuedNewMax : queuedMax)) {
        return reject(new StoreError("overloaded", "too many writes are waiting"));
      }
      const operation = new Operation(kind, weight, work, resolve, reject);
      if (kind === "patient") return this.#wait(operation);
      (operation.isUrgent ? this.#urgent : this.#queue).push(operation);
      this.#goOn();
    });
  }

  #wait(operation: Operation): void {
    this.#patient.push(operation);
    this.#timer ??= this.#options.after(patientMs, () => {
      this.#timer = undefined;
      this.#hurry();
      this.#goOn();
    });
  }

  #hurry(): void {
    if (this.#patient.length === 0) return;
    this.#urgent.push(...this.#patient);
    this.#patient = [];
  }

  #goOn(): void {
    if (this.#scheduled || this.#isHeld) return;
    if (this.#urgent.length === 0 && (this.#syncing || this.#queue.length === 0)) return;
    this.#scheduled = true;
    this.#options.schedule(this.#turn);
  }

  readonly #turn = (): void => {
    this.#scheduled = false;
    if (this.#isHeld) return;
    const before = this.#commits;
    const begunAt = performance.now();
    const { batch, writes } = this.#carryOut();
    const rest = tellUrgent(batch);
    if (this.#syncing || this.#commits === before) tell(rest);
    else {
      this.#unsynced = rest[0];
      this.#syncing = this.#synced(rest, writes, begunAt);
    }
    this.#goOn();
  };

  async #synced(batch: Batch, writes: number, begunAt: number): Promise<void> {
    const { sync, afterCommit, metrics = noMetrics } = this.#options;
    try {
      // Without a write, this only waits a turn: the turn sets `#syncing` first.
      await (writes > 0 ? sync?.run() : undefined);
      metrics.observe("posthaste_commit_writes", writes);
      metrics.observe("posthaste_commit_seconds", (performance.now() - begunAt) / 1_000);
      this.#unsynced = undefined;
      tell(batch);
      const more = afterCommit();
      this.#isHeld = more !== undefined;
      // Also without more work: the turns of the callers that were told come before the next, and add to its batch.
      await more;
    } catch (error) {
      this.#breakDown(error, batch);
    }
    this.#letGo();
  }

  /** Holds all writes until the promise of `work` ends. A failure counts as one of the disk. */
  async #held(work: () => Promise<void>): Promise<void> {
    this.#isHeld = true;
    try {
      await work();
    } catch (error) {
      this.#breakDown(error, []);
    }
    this.#letGo();
  }

  #letGo(): void {
    this.#isHeld = false;
    this.#syncing = undefined;
    this.#goOn();
  }

  #finishNow(): void {
    const { batch } = this.#carryOut();
    try {
      this.#options.sync?.runNow();
      tell(batch);
    } catch (error) {
      this.#breakDown(error, batch);
    }
  }

  /**
   * Carries out the urgent operations and, when no sync is under way, the queued ones. Returns the operations carried
   * out, and how many of the queued ones write.
   */
  #carryOut(): { readonly batch: Batch; readonly writes: number } {
    const isQueueOpen = !this.#syncing && this.#queue.length > 0;
    if (isQueueOpen || this.#urgent.some(({ isRead }) => !isRead)) this.#hurry();
    const batch: Operation[] = [];
    const urgentWrites = fill(batch, this.#urgent);
    const writes = this.#syncing ? 0 : fill(batch, this.#queue);
    try {
      const hasWrites = urgentWrites + writes > 0;
      if (!this.#together(batch, hasWrites)) this.#separately(batch);
      return { batch, writes };
    } catch (error) {
      if (sqliteCode(error) === "busy") rejectAll(batch, lockedByOther(error));
      else this.#breakDown(error, batch);
      return { batch: [], writes: 0 };
    }
  }

  /** Runs the batch in one transaction, the usual case. Returns false when an operation threw: then nothing has happened. */
  #together(batch: Batch, hasWrites: boolean): boolean {
    try {
      if (hasWrites) this.#db.exec("BEGIN IMMEDIATE");
      for (const operation of batch) (this.#carriedOut = operation).carryOut();
      if (hasWrites) this.#commit();
      return true;
    } catch (error) {
      this.#undo();
      if (endsBatch(error)) throw error;
      return false;
    }
  }

  /**
   * Runs each operation inside a savepoint, so that one which throws is left out alone. When the whole transaction is lost, as by a full
   * disk, it begins again without that operation: at most once per operation, and once for each way of freeing space.
   */
  #separately(batch: Batch): void {
    const leftOut = new Map<Operation, unknown>();
    for (let round = 0; round <= batch.length + waysToRoom; round++) {
      if (this.#roundOfSavepoints(batch, leftOut)) return;
    }
    throw new Error("a batch of writes did not end");
  }

  #roundOfSavepoints(batch: Batch, leftOut: Map<Operation, unknown>): boolean {
    try {
      this.#db.exec("BEGIN IMMEDIATE");
      for (const operation of batch) {
        if (leftOut.has(operation)) operation.fail(leftOut.get(operation));
        else this.#inSavepoint(operation);
        if (this.#db.isTransaction) continue;
        leftOut.set(operation, operation.error);
        this.#undo();
        return false;
      }
      this.#commit();
      return true;
    } catch (error) {
      this.#undo();
      if (sqliteCode(error) !== "full") throw error;
      this.#leaveOutForRoom(batch, leftOut, error);
      return false;
    }
  }

  /** Throws what concerns the whole batch: a full disk, and the failures of `endsBatch`. */
  #inSavepoint(operation: Operation): void {
    const effectsBefore = this.#effects.length;
    this.#db.exec("SAVEPOINT operation");
    try {
      (this.#carriedOut = operation).carryOut();
      this.#db.exec("RELEASE operation");
    } catch (error) {
      if (endsBatch(error) || sqliteCode(error) === "full") throw error;
      this.#effects.length = effectsBefore;
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK TO operation; RELEASE operation");
      operation.fail(error);
    }
  }

  /** Handles a full disk in three steps: refuses operations that take on new work, then frees space, then refuses all writes. */
  #leaveOutForRoom(batch: Batch, leftOut: Map<Operation, unknown>, error: unknown): void {
    const before = leftOut.size;
    for (const operation of batch) if (operation.isNew) leftOut.set(operation, error);
    if (leftOut.size > before || this.#options.makeRoom()) return;
    for (const operation of batch) if (!operation.isRead) leftOut.set(operation, error);
  }

  #commit(): void {
    this.#db.exec("COMMIT");
    this.#commits++;
    const effects = this.#effects;
    this.#effects = [];
    for (const effect of effects) effect();
  }

  #undo(): void {
    this.#effects = [];
    if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
  }

  #breakDown(cause: unknown, batch: Batch): void {
    const error = new StoreError("unavailable", "the store has failed and takes no more writes", {
      cause,
    });
    rejectAll(batch, error);
    this.#refuse(error);
    this.#options.fatal(error);
  }

  #refuse(error: StoreError): void {
    this.#unusable ??= error;
    rejectAll([...this.#urgent, ...this.#patient, ...this.#queue], error);
    this.#urgent = [];
    this.#patient = [];
    this.#queue = [];
  }
}

const light: Weight = { records: 1, bytes: 0 };

/**
 * Reports whether the failure ends the batch. After a failed sync, a failing disk or a damaged file, carrying on
 * could acknowledge lost writes. A batch also ends instead of waiting for another program's lock.
 */
function endsBatch(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === "broken" || code === "damaged" || code === "busy";
}

const lockedByOther = (cause: unknown): StoreError =>
  new StoreError("unavailable", "another program has locked the database", { cause });
