/** What a failure of the driver means to the port (store-error.ts). */
import { StoreError } from "@posthaste/ports";
import { type MongoBulkWriteError } from "mongodb";

/** Somebody has this `_id`, or another unique value, already. */
const duplicateKeyCode = 11_000;

/** The outcome is unknown and the same call may succeed now: connections lost, replies late, elections. */
export function isPassing(error: unknown): boolean {
  if (!Error.isError(error)) return false;
  if (error.name === "MongoWriteConcernError") return true;
  if (hasLabel(error, "RetryableWriteError") || hasLabel(error, "RetryableError")) return true;
  if (networkNames.has(error.name)) return true;
  return "code" in error && typeof error.code === "number" && passingCodes.has(error.code);
}

/** As the port says it; what is none of the store's troubles stays what it is, since then we are wrong. */
export function portError(error: unknown): unknown {
  if (!Error.isError(error)) return error;
  const code = "code" in error ? error.code : undefined;
  const options = { cause: error };
  if (error.name === "MongoWaitQueueTimeoutError")
    return new StoreError("overloaded", "every connection to the documents is taken", options);
  if (typeof code === "number" && diskFullCodes.has(code))
    return new StoreError("disk_full", "the documents' disk is full", options);
  if (isPassing(error) || awayNames.has(error.name))
    return new StoreError("unavailable", `the documents are away: ${error.message}`, options);
  return error;
}

/** The places in the batch that were refused as duplicates. Throws the error when anything else was refused. */
export function duplicatesIn(error: unknown): readonly number[] {
  const refused = refusedWrites(error);
  if (refused.length === 0 || refused.some(({ code }) => code !== duplicateKeyCode)) throw error;
  return refused.map(({ index }) => index);
}

function refusedWrites(error: unknown): readonly { code: number; index: number }[] {
  if (!Error.isError(error) || error.name !== "MongoBulkWriteError") return [];
  const { writeErrors } = error as MongoBulkWriteError;
  return [writeErrors].flat();
}

const hasLabel = (error: Error, label: string): boolean =>
  "errorLabels" in error && Array.isArray(error.errorLabels) && error.errorLabels.includes(label);

const networkNames: ReadonlySet<string> = new Set([
  "MongoNetworkError",
  "MongoNetworkTimeoutError",
  "PoolClearedOnNetworkError",
  "MongoPoolClearedError",
]);
/** Asked for a server, and there was none in time, or we are closing. */
const awayNames: ReadonlySet<string> = new Set([
  "MongoServerSelectionError",
  "MongoTopologyClosedError",
  "MongoNotConnectedError",
  "MongoClientClosedError",
  "MongoOperationTimeoutError",
]);
/** Stepping down, shutting down, starting up, interrupted, write concern not met in time: the driver's own list of what to retry. */
const passingCodes: ReadonlySet<number> = new Set([
  6, 7, 50, 64, 89, 91, 134, 189, 262, 9001, 10_107, 11_600, 11_602, 13_435, 13_436,
]);
const diskFullCodes: ReadonlySet<number> = new Set([14_031]);
