/** The Sizes and RunningCalls ports: the server counts along an index, no further than asked. */
import { allShards, type TenantId } from "@posthaste/domain";
import { type RunningCalls, type Sizes } from "@posthaste/ports";
import { nextAlarmOf } from "./alarms.ts";
import { type Connection } from "./connection.ts";
import { deadLettersName } from "./dead-letters.ts";
import { collectionName } from "./messages/stored.ts";
import { nextDeliverAlarm } from "./runs/alarms.ts";
import { runsName, type StoredRun } from "./runs/stored-run.ts";

export function createSizes({ again, collection }: Connection): Sizes {
  const messages = collection(collectionName);
  const letters = collection(deadLettersName);
  const runs = collection<StoredRun>(runsName);
  return {
    // What waits has a lane, and lanes have an index.
    waiting: (limit) =>
      again(() => messages.countDocuments({ lane: { $gt: "" }, state: "waiting" }, { limit })),
    queued: (limit) =>
      again(() => messages.countDocuments({ queue: { $gt: "" }, state: "queued" }, { limit })),
    deadLetters: (limit) => again(() => letters.countDocuments({}, { limit })),
    activeRuns: (limit) =>
      again(() => runs.countDocuments({ tenant: ofAny, "state.kind": "active" }, { limit })),
    waitingRuns: (limit) =>
      again(() =>
        runs.countDocuments({ tenant: ofAny, events: { $gt: "", $exists: true } }, { limit }),
      ),
    runAlarm: async () => {
      const alarms = await Promise.all([
        nextAlarmOf({ again, collection }, runsName, allShards),
        nextDeliverAlarm({ again, runs }, allShards),
      ]);
      const set = alarms.filter((alarm) => alarm !== undefined);
      return set.length > 0 ? Math.min(...set) : undefined;
    },
  };
}

/** The indexes of runs begin with their tenants. */
const ofAny = { $gt: "" as TenantId };

/** No plan allows more. */
const runningMax = 1_000_000;

export function createRunningCalls({ again, collection }: Connection): RunningCalls {
  const messages = collection(collectionName);
  return {
    ofTenant: (tenant) =>
      again(() => messages.countDocuments({ tenant, state: "claimed" }, { limit: runningMax })),
  };
}
