/** Translates failures of the driver to the port's errors (store-error.ts). */
import { RefusedError, StoreError } from "@posthaste/ports";
import { type MongoBulkWriteError } from "mongodb";

/** Reports whether the failure is a duplicate `_id`, or another duplicate unique value. */
export const isDuplicate = ({ code }: { readonly code: number }): boolean => code === 11_000;

/** Reports whether the outcome is unknown and the same call may succeed now: a lost connection, a late reply, an election. */
export function isPassing(error: unknown): boolean {
  const failure = unwrapped(error);
  const code = codeOf(failure);
  if (code !== undefined && passingCodes.has(code)) return true;
  if (!Error.isError(failure)) return false;
  return (
    passingNames.has(failure.name) || labelsOf(failure).some((label) => passingLabels.has(label))
  );
}

/** Reports whether a single item of the call may have caused the failure. False if the server refused the whole command. */
export function mayBeOfOneItem(error: unknown): boolean {
  if (!Error.isError(error) || !error.name.startsWith("Mongo")) return true;
  return error.name === "MongoBulkWriteError" || "index" in error;
}

/** Reports whether the server gave up the read at its `maxTimeMS`. */
export const isTooLong = (error: unknown): boolean => codeOf(error) === maxTimeExpired;
const maxTimeExpired = 50;

export function isAway(error: unknown): boolean {
  const failure = unwrapped(error);
  return isPassing(error) || (Error.isError(failure) && awayNames.has(failure.name));
}

export function codeOf(failure: unknown): number | undefined {
  const isCoded = typeof failure === "object" && failure !== null && "code" in failure;
  return isCoded && typeof failure.code === "number" ? failure.code : undefined;
}

function labelsOf(error: Error): readonly unknown[] {
  const labels = "errorLabels" in error ? error.errorLabels : undefined;
  return Array.isArray(labels) ? labels : [];
}

const textOf = (error: unknown): string => (Error.isError(error) ? error.message : String(error));

/** Returns the failure inside an error of a whole batch: a failed write, or a write concern that was not met. */
function unwrapped(error: unknown): unknown {
  if (!Error.isError(error) || error.name !== "MongoBulkWriteError") return error;
  const { errorResponse, writeErrors, result } = error as MongoBulkWriteError;
  return (
    [writeErrors].flat().find(isPassing) ??
    result?.getWriteConcernError() ??
    (Error.isError(errorResponse) ? errorResponse : error)
  );
}

/** Returns the port's error for a driver's error. Any error that is not of the store is returned as it is, since it shows a bug. */
export function portError(error: unknown): unknown {
  const failure = unwrapped(error);
  const code = codeOf(failure);
  const name = Error.isError(failure) ? failure.name : "";
  const options = { cause: error };
  if (name === "MongoWaitQueueTimeoutError")
    return new StoreError("overloaded", "every connection to MongoDB is taken", options);
  if (isTooLong(error))
    return new StoreError("overloaded", "a read exceeded its time in MongoDB", options);
  if (code !== undefined && diskFullCodes.has(code))
    return new StoreError("disk_full", "the disk of MongoDB is full", options);
  if (isAway(error))
    return new StoreError("unavailable", `MongoDB is away: ${textOf(error)}`, options);
  if (isOfWhatWasGiven(error)) return new RefusedError(textOf(error), options);
  return error;
}

/**
 * Reports whether the server refused values that it was given. In a batch duplicates may precede such a refusal, so
 * all errors are checked.
 */
function isOfWhatWasGiven(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (error.name === "MongoInvalidArgumentError") return true;
  const writes =
    error.name === "MongoBulkWriteError" ? [(error as MongoBulkWriteError).writeErrors].flat() : [];
  return [error, ...writes].some((each) => givenCodes.has(codeOf(each) ?? 0));
}

export type Refused = { readonly index: number; readonly code: number };

/**
 * Returns which writes of an unordered batch were refused one by one; all other writes were done. Throws a failure of
 * the whole batch: a lost connection, or a write concern that was not met.
 */
export function refusedIn(error: unknown): {
  readonly matched: number;
  readonly refused: readonly Refused[];
} {
  if (!Error.isError(error) || error.name !== "MongoBulkWriteError") throw error;
  const { writeErrors, result } = error as MongoBulkWriteError;
  const refused = [writeErrors].flat().map(({ index, code }) => ({ index, code }));
  if (refused.length === 0 || result.getWriteConcernError() || refused.some(isPassing)) throw error;
  return { matched: result.matchedCount, refused };
}

/** Returns the places in the batch that were refused as duplicates. Throws the error when anything else was refused. */
export function duplicatesIn(error: unknown): readonly number[] {
  const { refused } = refusedIn(error);
  if (!refused.every(isDuplicate)) throw error;
  return refused.map(({ index }) => index);
}

const passingNames: ReadonlySet<string> = new Set([
  "MongoNetworkError",
  "MongoNetworkTimeoutError",
  "MongoPoolClearedError",
  "PoolClearedOnNetworkError",
  "MongoWriteConcernError",
  "MongoStalePrimaryError",
  "MongoOperationTimeoutError",
]);
const passingLabels: ReadonlySet<unknown> = new Set([
  "RetryableWriteError",
  "RetryableError",
  "TransientTransactionError",
  "UnknownTransactionCommitResult",
  "ResumableChangeStreamError",
  "SystemOverloadedError",
]);
const awayNames: ReadonlySet<string> = new Set([
  "MongoServerSelectionError",
  "MongoTopologyClosedError",
  "MongoNotConnectedError",
  "MongoClientClosedError",
  "MongoPoolClosedError",
  "MongoServerClosedError",
]);
/**
 * Codes of passing failures: stepping down, shutting down, starting up, interrupted, write concern not met in time or
 * by no member, no member to read from, locks and conflicts, a lost cursor, old snapshots and routes, writes that an
 * operator blocks. These are more than the driver's list of retryable codes. 1 is the code by which gateways to other
 * databases report that those are away.
 */
const passingCodes: ReadonlySet<number> = new Set([
  1, 6, 7, 24, 43, 46, 63, 64, 70, 89, 91, 100, 112, 117, 133, 134, 150, 175, 189, 202, 225, 234,
  239, 246, 251, 262, 290, 314, 317, 365, 371, 9001, 10_058, 10_107, 11_600, 11_602, 13_388, 13_435,
  13_436,
]);
/**
 * Codes of bad values, names and documents, and of values that are too large or nest too deep. Missing rights are
 * left out, since an operator can grant them.
 */
const givenCodes: ReadonlySet<number> = new Set([
  2, 9, 14, 15, 22, 52, 54, 55, 56, 57, 121, 10_334, 17_280, 17_419, 17_420,
]);
const diskFullCodes: ReadonlySet<number> = new Set([14_031]);
