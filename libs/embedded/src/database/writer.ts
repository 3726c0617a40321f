/**
 * Group commit: all that was asked for while the last commit ran goes into the next one, and one sync serves it all.
 *
 * Owns the queue and every transaction of the writing connection; everything that writes goes through `write`.
 * (1) a promise of `write` resolves only after the sync of the commit that holds its work (I1). Until then no other work
 *     is begun, so nothing is ever seen that is not on the disk; but for what is urgent.
 * (2) operations take effect in the order in which they were asked for; so do reads that must see them.
 * (3) an operation that throws takes nothing with it: the rest of its batch is carried out without it.
 * (4) after a failed sync nothing is carried out any more: what is on the disk is then unknown.
 */
import { type DatabaseSync } from "node:sqlite";
import { StoreError } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";
import {
  isRead,
  isUrgent,
  type Kind,
  Operation,
  type Weight,
  type WriteKind,
} from "./operation.ts";
import { type Sync } from "./sync.ts";

/** What the writer needs of the connection that writes. */
export type Connection = Pick<DatabaseSync, "exec" | "isTransaction">;

export type WriterOptions = {
  /** Runs a task after the present turn of the event loop: `setImmediate`, or a simulation's own. */
  readonly schedule: (task: () => void) => void;
  /** Absent when a commit needs no sync: there is no disk. */
  readonly sync?: Sync;
  /** Throws when the disk has no room for new work. Absent: there is always room. */
  readonly checkRoom?: () => void;
  /** The disk is full and work that must go on needs room: answers whether some was made. */
  readonly makeRoom: () => boolean;
  /** After each commit, when its callers have been told. What it answers ends before the next; a failure is the disk's. */
  readonly afterCommit: () => Promise<void> | undefined;
  /** For metrics: writes that became durable together, and the seconds from the first of them to the sync's end. */
  readonly committed?: (writes: number, seconds: number) => void;
  /** The store has become unusable; called once. */
  readonly fatal: (error: Error) => void;
};

/**
 * Bounds of one transaction, during which nothing else runs, and of the queue. A single operation may be larger: it is then
 * a transaction alone. New work is refused at half of what work in hand may fill.
 */
const recordsPerCommitMax = 1_024;
const bytesPerCommitMax = 8 * 1024 * 1024;
const queuedMax = 65_536;
const queuedNewMax = queuedMax / 2;

/** Refusing new work, making room, refusing all: see `leaveOutForRoom`. */
const waysToRoom = 3;

/** What shares a transaction, and is told together. */
type Batch = readonly Operation[];

export class Writer {
  readonly #db: Connection;
  readonly #options: WriterOptions;
  #queue: Operation[] = [];
  #urgent: Operation[] = [];
  #scheduled = false;
  #effects: (() => void)[] = [];
  #carriedOut: Operation | undefined;
  #unusable: StoreError | undefined;
  #commits = 0;
  /** Ends with the sync, and what follows it, that is under way. */
  #syncing: Promise<void> | undefined;
  /** Work that wants the log to itself is under way: not even what is urgent may write. */
  #isHeld = false;
  /** The first of those that wait for the sync that is under way. */
  #unsynced: Operation | undefined;

  constructor(db: Connection, options: WriterOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Transactions committed so far. */
  get commits(): number {
    return this.#commits;
  }

  /** How long the oldest of what is waiting has waited: for its turn, or for the sync of its commit. */
  get waitMs(): number {
    const oldest = this.#unsynced ?? this.#queue[0];
    return oldest ? performance.now() - oldest.askedAtMs : 0;
  }

  /** Carries `work` out inside the next transaction. `work` is synchronous and may run twice, the first time undone. */
  write<T>(work: () => T, kind: WriteKind, weight: Weight = light): Promise<T> {
    return this.#enqueue(kind, work, weight);
  }

  /** Reads behind everything that was asked for before. */
  read<T>(work: () => T): Promise<T> {
    return this.#enqueue("reading", work);
  }

  /** Reads what is committed, without waiting for a sync. */
  glance<T>(work: () => T): Promise<T> {
    return this.#enqueue("glancing", work);
  }

  /** For use inside `work`: changes of memory that must follow the disk. Dropped when the work is undone. */
  onCommit(effect: () => void): void {
    this.#effects.push(effect);
  }

  /** For use inside `work` that goes on with something: it takes on something new as well. Throws when there is no room. */
  takeOn(): void {
    this.#options.checkRoom?.();
    this.#carriedOut?.takeOn();
  }

  /** Carries out what is queued, and refuses what comes after. */
  async close(): Promise<void> {
    await this.#syncing;
    while (this.#waiting > 0 && !this.#unusable) this.#finishNow();
    this.#refuse(new StoreError("unavailable", "the store is closed"));
  }

  /** `work` has the log to itself: it begins when no sync is under way, and nothing is written until it has ended. */
  async alone(work: () => Promise<void>): Promise<void> {
    // Bounded by the turns of other callers that ask for the same, each of which ends.
    while (this.#syncing) await this.#syncing;
    if (this.#unusable) return;
    await (this.#syncing = this.#held(work).then(() => {
      this.#syncing = undefined;
      this.#goOn();
    }));
  }

  get #waiting(): number {
    return this.#queue.length + this.#urgent.length;
  }

  #enqueue<T>(kind: Kind, work: () => T, weight = light): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#unusable) return reject(this.#unusable);
      if (kind === "new") this.#options.checkRoom?.();
      if (this.#waiting >= (kind === "new" ? queuedNewMax : queuedMax)) {
        return reject(new StoreError("overloaded", "too many writes are waiting"));
      }
      const operation = new Operation(kind, weight, work, resolve, reject);
      (isUrgent(kind) ? this.#urgent : this.#queue).push(operation);
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#scheduled || this.#isHeld) return;
    if (this.#urgent.length === 0 && (this.#syncing || this.#queue.length === 0)) return;
    this.#scheduled = true;
    this.#options.schedule(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    if (this.#isHeld) return;
    const before = this.#commits;
    const begunAt = this.#options.committed ? performance.now() : 0;
    const batch = this.#carryOut();
    if (!batch) return this.#goOn();
    const rest = tellUrgent(batch);
    if (this.#syncing || this.#commits === before) {
      tell(rest);
      return this.#goOn();
    }
    this.#unsynced = rest[0];
    this.#syncing = this.#synced(rest, begunAt).then(() => {
      this.#syncing = undefined;
      this.#goOn();
    });
  }

  async #synced(batch: Batch, begunAt: number): Promise<void> {
    const { sync, afterCommit, committed } = this.#options;
    try {
      if (sync && batch.some(({ kind }) => !isRead(kind)))
        await new Promise<void>((resolve, reject) => sync.run((e) => (e ? reject(e) : resolve())));
      committed?.(writesIn(batch), (performance.now() - begunAt) / 1_000);
      this.#unsynced = undefined;
      tell(batch);
    } catch (error) {
      this.#breakDown(error, batch);
      return;
    }
    await this.#held(afterCommit);
  }

  /** What `work` answers ends before anything else is written; a failure is the disk's. */
  async #held(work: () => Promise<void> | undefined): Promise<void> {
    try {
      const more = work();
      this.#isHeld = more !== undefined;
      await more;
    } catch (error) {
      this.#breakDown(error, []);
    } finally {
      this.#isHeld = false;
    }
  }

  #finishNow(): void {
    const batch = this.#carryOut();
    if (!batch) return;
    try {
      this.#options.sync?.runNow();
    } catch (error) {
      this.#breakDown(error, batch);
      return;
    }
    tell(batch);
  }

  /** What is urgent, and when nothing is being synced what is queued. */
  #takeBatch(): Batch {
    const urgent = takeWithin(this.#urgent, []);
    return this.#syncing ? urgent : takeWithin(this.#queue, urgent);
  }

  #carryOut(): Batch | undefined {
    if (this.#unusable || this.#waiting === 0) return undefined;
    const batch = this.#takeBatch();
    try {
      if (!this.#together(batch)) this.#separately(batch);
      return batch;
    } catch (error) {
      if (sqliteCode(error) === "busy") rejectAll(batch, lockedByOther(error));
      else this.#breakDown(error, batch);
      return undefined;
    }
  }

  /** The usual case: all in one transaction. False: something threw, and nothing has happened. */
  #together(batch: Batch): boolean {
    const writes = batch.some(({ kind }) => !isRead(kind));
    try {
      if (writes) this.#db.exec("BEGIN IMMEDIATE");
      for (const operation of batch) this.#carryOutOne(operation);
      if (writes) this.#commit();
      return true;
    } catch (error) {
      this.#undo();
      if (endsBatch(error)) throw error;
      return false;
    }
  }

  /**
   * The same, each operation inside a savepoint, so that one which throws is left out alone. When the whole transaction
   * is lost (a full disk does that), it begins again without the culprit: at most once per operation, and once for each
   * way of finding room.
   */
  #separately(batch: Batch): void {
    const leftOut = new Map<Operation, unknown>();
    for (let round = 0; round <= batch.length + waysToRoom; round++) {
      if (this.#roundOfSavepoints(batch, leftOut)) return;
    }
    throw new Error("a batch of writes came to no end");
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

  #carryOutOne(operation: Operation): void {
    this.#carriedOut = operation;
    operation.carryOut();
  }

  /** Throws what concerns the whole batch: a full disk, and what `endsBatch`. */
  #inSavepoint(operation: Operation): void {
    const effectsBefore = this.#effects.length;
    this.#db.exec("SAVEPOINT operation");
    try {
      this.#carryOutOne(operation);
      this.#db.exec("RELEASE operation");
    } catch (error) {
      if (endsBatch(error) || sqliteCode(error) === "full") throw error;
      this.#effects.length = effectsBefore;
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK TO operation; RELEASE operation");
      operation.fail(error);
    }
  }

  /** No room: first whatever takes on new work is refused; then room is made; then all is refused. */
  #leaveOutForRoom(batch: Batch, leftOut: Map<Operation, unknown>, error: unknown): void {
    const before = leftOut.size;
    for (const operation of batch) if (operation.kind === "new") leftOut.set(operation, error);
    if (leftOut.size > before || this.#options.makeRoom()) return;
    for (const operation of batch) if (!isRead(operation.kind)) leftOut.set(operation, error);
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
    rejectAll([...this.#urgent, ...this.#queue], error);
    this.#urgent = [];
    this.#queue = [];
  }
}

/** `before` and the first of `queue` that fit into one transaction with them; at least one. */
function takeWithin(queue: Operation[], before: Batch): Batch {
  let records = 0;
  let bytes = 0;
  const fits = ({ weight }: Operation, i: number): boolean => {
    records += weight.records;
    bytes += weight.bytes;
    return (
      (records <= recordsPerCommitMax && bytes <= bytesPerCommitMax) || before.length + i === 0
    );
  };
  before.forEach(fits);
  const left = queue.findIndex((operation, i) => !fits(operation, i));
  return [...before, ...queue.splice(0, left < 0 ? queue.length : left)];
}

const light: Weight = { records: 1, bytes: 0 };

/** A failed sync, a failing disk, a damaged file: carrying on could acknowledge what is not there. A lock is not ours to wait for, either. */
function endsBatch(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === "broken" || code === "damaged" || code === "busy";
}

const writesIn = (batch: Batch): number =>
  batch.reduce((writes, { kind }) => (isRead(kind) ? writes : writes + 1), 0);

/** Resolves the urgent operations, which come first in a batch. Returns the rest: they resolve after the sync. */
function tellUrgent(batch: Batch): Batch {
  const firstOther = batch.findIndex(({ kind }) => !isUrgent(kind));
  if (firstOther === 0) return batch;
  const n = firstOther < 0 ? batch.length : firstOther;
  tell(batch.slice(0, n));
  return batch.slice(n);
}

function tell(batch: Batch): void {
  for (const operation of batch) operation.tell();
}

const lockedByOther = (cause: unknown): StoreError =>
  new StoreError("unavailable", "another program has locked the database", { cause });

function rejectAll(batch: Batch, error: unknown): void {
  for (const operation of batch) operation.refuse(error);
}
