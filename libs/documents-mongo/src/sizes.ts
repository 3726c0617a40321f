/** The Sizes and RunningCalls ports: the server counts along an index, no further than asked. */
import { type RunningCalls, type Sizes } from "@posthaste/ports";
import { type Connection } from "./connection.ts";
import { deadLettersName } from "./dead-letters.ts";
import { collectionName } from "./messages/stored.ts";

export function createSizes({ again, collection }: Connection): Sizes {
  const messages = collection(collectionName);
  const letters = collection(deadLettersName);
  return {
    // Whoever waits has a lane, and lanes have an index.
    waiting: (limit) =>
      again(() => messages.countDocuments({ lane: { $gt: "" }, state: "waiting" }, { limit })),
    queued: (limit) =>
      again(() => messages.countDocuments({ queue: { $gt: "" }, state: "queued" }, { limit })),
    deadLetters: (limit) => again(() => letters.countDocuments({}, { limit })),
  };
}

/** No plan allows more. */
const runningMax = 1_000_000;

export function createRunningCalls({ again, collection }: Connection): RunningCalls {
  const messages = collection(collectionName);
  return {
    ofTenant: (tenant) =>
      again(() => messages.countDocuments({ tenant, state: "claimed" }, { limit: runningMax })),
  };
}
