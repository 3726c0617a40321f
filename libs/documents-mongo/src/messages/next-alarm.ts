/** Finds the earliest alarm of some sources: each source has an index of its own. */
import {
  type AlarmSource,
  alarmSources,
  recordSources,
  type RowSource,
  rowSources,
} from "@posthaste/domain";
import { type Alarms } from "@posthaste/ports";
import { nextAlarmOf } from "../alarms.ts";
import { bulkActionsName } from "../bulk-actions/stored.ts";
import { fanOutsName } from "../fan-outs/stored-fan-out.ts";
import { queuesName } from "../queues/stored-queue.ts";
import { nextDeliverAlarm } from "../runs/alarms.ts";
import { type StoreWithRuns, runsName } from "../runs/store.ts";
import { schedulesName } from "../schedules/stored.ts";
import { lanesName } from "../lanes/lanes.ts";
import { alarmFields, alarmIn, isKnownFormat } from "./stored.ts";

const collections: { readonly [Source in RowSource]: string } = {
  flow: lanesName,
  queue: queuesName,
  fanOut: fanOutsName,
  schedule: schedulesName,
  bulkAction: bulkActionsName,
  run: runsName,
};

export function createNextAlarm(store: StoreWithRuns): Alarms["next"] {
  const { again, messages } = store;
  return async (shards, sources = alarmSources) => {
    const inShards = { shard: { $in: [...shards] }, ...isKnownFormat };
    const isSet = { $gt: 0, $exists: true };
    const isAsked = (source: AlarmSource): boolean => sources.includes(source);
    const [delivery, ...found] = await Promise.all([
      isAsked("record") ? nextDeliverAlarm(store, shards) : undefined,
      ...rowSources
        .filter(isAsked)
        .map((source) => nextAlarmOf(store, collections[source], shards)),
      ...recordSources.filter(isAsked).map(async (source) => {
        const field = alarmFields[source];
        const options = { projection: { [field]: 1 }, sort: { [field]: 1 } } as const;
        const record = await again(() =>
          messages.findOne({ ...inShards, [field]: isSet }, options),
        );
        return record ? alarmIn(record)?.at : undefined;
      }),
    ]);
    const alarms = [delivery, ...found].filter((alarm) => alarm !== undefined);
    return alarms.length > 0 ? Math.min(...alarms) : undefined;
  };
}
