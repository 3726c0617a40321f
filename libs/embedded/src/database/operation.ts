/** One piece of work that the writer was asked for. */
import { type Intake, StoreError } from "@posthaste/ports";
import { sqliteCode } from "./failures.ts";

/**
 * `new` is the first to be refused when there is too much, or no room. `redoable`: what a crash undoes is simply done again,
 * a claim, a ring or a lane's rest. It is urgent: it waits for no sync, neither its own nor another's, and overtakes what
 * does; so nothing that a caller is answered for is redoable.
 */
export type WriteKind = Intake | "redoable";
/** `reading`: behind everything that was asked for before. `glancing`: at what is there, for work that is redoable. */
export type Kind = WriteKind | "reading" | "glancing";
export const isUrgent = (kind: Kind): boolean => kind === "redoable" || kind === "glancing";
export const isRead = (kind: Kind): boolean => kind === "reading" || kind === "glancing";

/** How much of a transaction it takes: records that are written, and bytes of their bodies. */
export type Weight = { readonly records: number; readonly bytes: number };

/** Work, the promise that is settled with it, and what came of it when it was last carried out. */
export class Operation {
  #kind: Kind;
  readonly weight: Weight;
  /** By a clock that only counts. */
  readonly askedAtMs = performance.now();
  readonly #work: () => unknown;
  readonly #resolve: (value: never) => void;
  readonly #reject: (error: unknown) => void;
  #value: unknown;
  #failed: { readonly error: unknown } | undefined;

  constructor(
    kind: Kind,
    weight: Weight,
    work: () => unknown,
    resolve: (value: never) => void,
    reject: (error: unknown) => void,
  ) {
    this.#kind = kind;
    this.weight = weight;
    this.#work = work;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  get kind(): Kind {
    return this.#kind;
  }

  /** The work has turned out to take on something new. */
  takeOn(): void {
    this.#kind = "new";
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

const asStoreError = (error: unknown): unknown =>
  sqliteCode(error) === "full"
    ? new StoreError("disk_full", "the disk is full", { cause: error })
    : error;
