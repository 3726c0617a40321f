import { isKnownFormat } from "@posthaste/domain";
import { type Clock, pause } from "./clock.ts";

/**
 * The refusal of a store that is full, overloaded or away. With the codes `disk_full` and `overloaded` nothing of the request has
 * happened; with `unavailable` the outcome is unknown.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, text: string, options?: ErrorOptions) {
    super(text, options);
    this.code = code;
  }
}

/** `indexing`: an index is being built, and the text says which: callers may read it. */
export type StoreErrorCode = "disk_full" | "indexing" | "overloaded" | "unavailable";

/** The store refuses the content of a request, for its size perhaps. Repeating the request does not help. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** Identifies the error by name, since it may come from another realm. */
export const isStoreError = (error: unknown): error is StoreError =>
  Error.isError(error) && error.name === "StoreError";

/**
 * Returns `found` if this build understands its format. Otherwise throws `unavailable`, so that the caller tries again, and leaves
 * the work to a process of the build that wrote it (ADR 27).
 */
export function requireKnownFormat<T extends { readonly format?: number }>(found: T): T {
  if (isKnownFormat(found)) return found;
  throw new StoreError("unavailable", "a newer build of the service wrote this");
}

const againAfterMs = 250;

/** Repeats `ask` while the store is away, until `isStopped`. For a start. */
export async function untilAvailable<T>(
  clock: Clock,
  ask: () => Promise<T>,
  isStopped: () => boolean = () => false,
): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!isStoreError(error) || isStopped()) throw error;
      await pause(clock, againAfterMs);
    }
  }
}
