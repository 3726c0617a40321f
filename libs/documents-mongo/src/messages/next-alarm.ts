import { alarmSources, recordSources } from "@posthaste/domain";
import { type Alarms } from "@posthaste/ports";
import { nextBulkAlarm } from "../bulk-actions/alarms.ts";
import { nextQueueAlarm } from "../queues/alarms.ts";
import { nextDeliverAlarm, nextRunAlarm } from "../runs/alarms.ts";
import { type RunRooms } from "../runs/runs.ts";
import { nextScheduleAlarm } from "../schedules/alarms.ts";
import { alarmFields, alarmIn, isUnderstood } from "./stored.ts";

/** The earliest alarm in `shards`, of records, fan-outs, lanes, queues, schedules, bulk actions and runs. */
export function createNextAlarm(rooms: RunRooms): Alarms["next"] {
  const { again, messages, lanes, fanOuts } = rooms;
  return async (shards, sources = alarmSources) => {
    const inShards = { shard: { $in: [...shards] }, ...isUnderstood };
    const isSet = { $gt: 0, $exists: true };
    const byAlarm = { projection: { wakeAt: 1 }, sort: { wakeAt: 1 } } as const;
    const ofRecords = recordSources.filter((source) => sources.includes(source));
    const [lane, queue, fanOut, schedule, bulkAction, delivery, run, ...records] =
      await Promise.all([
        again(() => lanes.findOne({ ...inShards, wakeAt: isSet }, byAlarm)),
        nextQueueAlarm(rooms, shards),
        sources.includes("fanOut")
          ? again(() => fanOuts.findOne({ ...inShards, wakeAt: isSet }, byAlarm))
          : undefined,
        sources.includes("schedule") ? nextScheduleAlarm(rooms, shards) : undefined,
        sources.includes("bulkAction") ? nextBulkAlarm(rooms, shards) : undefined,
        sources.includes("record") ? nextDeliverAlarm(rooms, shards) : undefined,
        sources.includes("run") ? nextRunAlarm(rooms, shards) : undefined,
        ...ofRecords.map((source) => {
          const field = alarmFields[source];
          const options = { projection: { [field]: 1 }, sort: { [field]: 1 } } as const;
          return again(() => messages.findOne({ ...inShards, [field]: isSet }, options));
        }),
      ]);
    const alarms = records.flatMap((record) => (record && alarmIn(record)?.at) ?? []);
    const others = [lane?.wakeAt, queue, fanOut?.wakeAt, schedule, bulkAction, delivery, run];
    alarms.push(...others.filter((alarm) => alarm !== undefined));
    return alarms.length > 0 ? Math.min(...alarms) : undefined;
  };
}
