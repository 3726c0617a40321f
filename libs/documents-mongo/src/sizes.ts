/** The Sizes and RunningCalls ports: the server counts along an index, only up to the given bound. */
import { allShards, type TenantId } from "@posthaste/domain";
import { type RunningCalls, type Sizes } from "@posthaste/ports";
import { nextAlarmOf } from "./alarms.ts";
import { type Connection } from "./connection.ts";
import { deadLettersName } from "./dead-letters.ts";
import { collectionName } from "./messages/stored.ts";
import { nextDeliverAlarm } from "./runs/alarms.ts";
import { runsName, type StoredRun } from "./runs/store.ts";

export function createSizes({ again, collection }: Connection): Sizes {
  const messages = collection(collectionName);
  const letters = collection(deadLettersName);
  const runs = collection<StoredRun>(runsName);
  return {
    waiting: (limit) =>
      again(() => messages.countDocuments({ lane: present, state: "waiting" }, { limit })),
    queued: (limit) =>
      again(() => messages.countDocuments({ queue: present, state: "queued" }, { limit })),
    deadLetters: (limit) => again(() => letters.countDocuments({ tenant: ofAny }, { limit })),
    activeRuns: (limit) =>
      again(() => runs.countDocuments({ tenant: ofAny, "state.kind": "active" }, { limit })),
    waitingRuns: (limit) =>
      again(() => runs.countDocuments({ tenant: ofAny, events: present }, { limit })),
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

/** Makes the server use an index that begins with the tenant. */
const ofAny = { $gt: "" as TenantId };
/** Makes the server use an index that holds only documents with the field. */
const present = { $gt: "", $exists: true } as const;

/** No plan allows more running calls. */
const runningMax = 1_000_000;

export function createRunningCalls({ again, collection }: Connection): RunningCalls {
  const messages = collection(collectionName);
  return {
    ofTenant: (tenant) =>
      again(() => messages.countDocuments({ tenant, state: "claimed" }, { limit: runningMax })),
  };
}
