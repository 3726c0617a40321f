import { type Rung } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { dueIn, moveAhead } from "../alarms.ts";
import { scheduleFrom, schedulesName, type StoredSchedule } from "./stored.ts";

export async function ringSchedules(
  connection: Pick<Connection, "again" | "collection">,
  shards: readonly number[],
  now: number,
  limit: number,
): Promise<readonly Rung[]> {
  const schedules = connection.collection<StoredSchedule>(schedulesName);
  const found = await connection.again(() =>
    schedules
      .find(dueIn(shards, now), { projection: { body: 0 } })
      .sort({ wakeAt: 1 })
      .limit(limit)
      .toArray(),
  );
  await moveAhead(connection, schedulesName, found, now);
  return found.map((stored) => ({ kind: "schedule", schedule: scheduleFrom(stored) }));
}
