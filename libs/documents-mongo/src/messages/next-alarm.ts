import { type Rooms } from "./rooms.ts";

/** The earliest alarm in `shards`, of records and lanes. */
export function createNextAlarm({
  again,
  messages,
  lanes,
}: Rooms): (shards: readonly number[]) => Promise<number | undefined> {
  return async (shards) => {
    const filter = { shard: { $in: [...shards] }, wakeAt: { $gt: 0, $exists: true } };
    const options = { projection: { wakeAt: 1 }, sort: { wakeAt: 1 } } as const;
    const [record, lane] = await Promise.all([
      again(() => messages.findOne(filter, options)),
      again(() => lanes.findOne(filter, options)),
    ]);
    const alarms = [record?.wakeAt, lane?.wakeAt].filter((wakeAt) => wakeAt !== undefined);
    return alarms.length > 0 ? Math.min(...alarms) : undefined;
  };
}
