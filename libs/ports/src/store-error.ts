import { isUnderstood } from "@posthaste/domain";
import { type Clock, pause } from "./clock.ts";

/**
 * How a store says no: it is full, has too much to do, or is gone. Nothing that was asked has happened when the code is
 * `disk_full` or `overloaded`; with `unavailable` the outcome is unknown.
 */
export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, text: string, options?: ErrorOptions) {
    super(text, options);
    this.code = code;
  }
}

export type StoreErrorCode = "disk_full" | "overloaded" | "unavailable";

/** The store refuses what it is given for what that is, its size perhaps: asking again helps nothing. */
export class RefusedError extends Error {
  override readonly name = "RefusedError";
}

/** Told by its name: it may come from another realm. */
export const isStoreError = (error: unknown): error is StoreError =>
  Error.isError(error) && error.name === "StoreError";

/**
 * Returns what this build understands. What is above its format is left to a process of the build that wrote it: the caller
 * is asked to come again (ADR 27).
 */
export function understood<T extends { readonly format?: number }>(found: T): T {
  if (isUnderstood(found)) return found;
  throw new StoreError("unavailable", "a newer build of the service wrote this");
}

const againAfterMs = 250;

/** For a start: a store that is away is waited for, until `isStopped`. */
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
