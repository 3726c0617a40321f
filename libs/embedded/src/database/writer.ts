/**
 * Group commit: all that was asked for while the last commit ran goes into the next one, and one sync serves it all.
 *
 * Owns the queue and every transaction of the writing connection; everything that writes goes through `write`.
 * W1: a promise of `write` resolves only after the sync of the commit that holds its work (I1). Until then no other work
 *     is begun, so nothing is ever seen that is not on the disk; but for what is urgent.
 * W2: operations take effect in the order in which they were asked for; so do reads that must see them.
 * W3: an operation that throws takes nothing with it: the others of its batch are carried out without it.
 * W4: after a failed sync nothing is carried out any more: what is on the disk is then unknown.
 */
import { type DatabaseSync } from "node:sqlite";
import { StoreError } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";
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
  /** For whoever counts: writes that became durable together, and the seconds from the first of them to the sync's end. */
  readonly committed?: (writes: number, seconds: number) => void;
  /** The store has become unusable; called once. */
  readonly fatal: (error: Error) => void;
};

/**
 * `accepting`: takes on new work, so it is the first to be refused when there is too much, or no room. `redoable`: what a
 * crash undoes is simply done again, a claim, a ring or a lane's rest. It is urgent: it waits for no sync, neither its own
 * nor another's, and overtakes what does.
 */
export type WriteKind = "accepting" | "ongoing" | "redoable";
/** `reading`: behind everything that was asked for before. `glancing`: at what is there, for work that is redoable. */
type Kind = WriteKind | "reading" | "glancing";
const isUrgent = (kind: Kind): boolean => kind === "redoable" || kind === "glancing";
const isRead = (kind: Kind): boolean => kind === "reading" || kind === "glancing";

/** Bounds of one transaction and of the queue. New work is refused at half of what work in hand may fill. */
const operationsPerCommitMax = 1_024;
const queuedMax = 65_536;
const queuedAcceptingMax = queuedMax / 2;

/** Refusing new work, making room, refusing all: see `leaveOutForRoom`. */
const waysToRoom = 3;

/** What somebody has asked for, who waits for it, and what came of it when it was last carried out. */
class Operation {
  readonly kind: Kind;
  readonly #work: () => unknown;
  readonly #resolve: (value: never) => void;
  readonly #reject: (error: unknown) => void;
  #value: unknown;
  #failed: { readonly error: unknown } | undefined;

  constructor(
    kind: Kind,
    work: () => unknown,
    resolve: (value: never) => void,
    reject: (error: unknown) => void,
  ) {
    this.kind = kind;
    this.#work = work;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  /** Throws what the work throws. */
  carryOut(): void {
    this.#failed = undefined;
    this.#value = this.#work();
  }

  fail(error: unknown): void {
    this.#failed = { error };
  }

  /** Why it has failed. */
  get error(): unknown {
    return this.#failed?.error;
  }

  /** The caller hears that it was not carried out. */
  refuse(error: unknown): void {
    this.#reject(error);
  }

  /** The caller hears how it ended. */
  tell(): void {
    if (this.#failed) this.#reject(asStoreError(this.#failed.error));
    else this.#resolve(this.#value as never);
  }
}

/** What shares a transaction, and is told together. */
type Batch = readonly Operation[];

export class Writer {
  readonly #db: Connection;
  readonly #options: WriterOptions;
  #queue: Operation[] = [];
  #urgent: Operation[] = [];
  #scheduled = false;
  #effects: (() => void)[] = [];
  #unusable: StoreError | undefined;
  #commits = 0;
  /** Ends with the sync, and what follows it, that is under way. */
  #syncing: Promise<void> | undefined;
  /** A checkpoint wants the log to itself: not even what is urgent may write. */
  #held = false;

  constructor(db: Connection, options: WriterOptions) {
    this.#db = db;
    this.#options = options;
  }

  /** Transactions committed so far. */
  get commits(): number {
    return this.#commits;
  }

  /** Carries `work` out inside the next transaction. `work` is synchronous and may run twice, the first time undone. */
  write<T>(work: () => T, kind: WriteKind = "ongoing"): Promise<T> {
    return this.#enqueue(kind, work);
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

  /** Carries out what is queued, and refuses what comes after. */
  async close(): Promise<void> {
    await this.#syncing;
    while (this.#waiting > 0 && !this.#unusable) this.#finishNow();
    this.#refuse(new StoreError("unavailable", "the store is closed"));
  }

  get #waiting(): number {
    return this.#queue.length + this.#urgent.length;
  }

  #enqueue<T>(kind: Kind, work: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (this.#unusable) return reject(this.#unusable);
      if (kind === "accepting") this.#options.checkRoom?.();
      if (this.#waiting >= (kind === "accepting" ? queuedAcceptingMax : queuedMax)) {
        return reject(new StoreError("overloaded", "too many writes are waiting"));
      }
      const operation = new Operation(kind, work, resolve, reject);
      (isUrgent(kind) ? this.#urgent : this.#queue).push(operation);
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#scheduled || this.#held) return;
    if (this.#urgent.length === 0 && (this.#syncing || this.#queue.length === 0)) return;
    this.#scheduled = true;
    this.#options.schedule(() => this.#turn());
  }

  #turn(): void {
    this.#scheduled = false;
    const before = this.#commits;
    const begunAt = this.#options.committed ? performance.now() : 0;
    const batch = this.#carryOut();
    if (!batch) return this.#goOn();
    const rest = tellUrgent(batch);
    if (this.#syncing || this.#commits === before) {
      tell(rest);
      return this.#goOn();
    }
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
      tell(batch);
    } catch (error) {
      this.#breakDown(error, batch);
      return;
    }
    try {
      const more = afterCommit();
      this.#held = more !== undefined;
      await more;
      this.#held = false;
    } catch (error) {
      this.#breakDown(error, []);
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
    const urgent = this.#urgent.splice(0, operationsPerCommitMax);
    if (this.#syncing) return urgent;
    return [...urgent, ...this.#queue.splice(0, operationsPerCommitMax - urgent.length)];
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
      for (const operation of batch) operation.carryOut();
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

  /** Throws what concerns the whole batch: a full disk, and what `endsBatch`. */
  #inSavepoint(operation: Operation): void {
    const effectsBefore = this.#effects.length;
    this.#db.exec("SAVEPOINT operation");
    try {
      operation.carryOut();
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
    for (const operation of batch)
      if (operation.kind === "accepting") leftOut.set(operation, error);
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

/** A failed sync, a failing disk, a damaged file: carrying on could acknowledge what is not there. A lock is not ours to wait for, either. */
function endsBatch(error: unknown): boolean {
  const code = sqliteCode(error);
  return code === "broken" || code === "damaged" || code === "busy";
}

const writesIn = (batch: Batch): number =>
  batch.reduce((writes, { kind }) => (isRead(kind) ? writes : writes + 1), 0);

/** They stand first. Answers who is still to be told, after the sync. */
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

const asStoreError = (error: unknown): unknown =>
  sqliteCode(error) === "full"
    ? new StoreError("disk_full", "the disk is full", { cause: error })
    : error;
