import { type Rung } from "@posthaste/ports";
import { type Due, ringDue } from "../alarms.ts";
import { type Connection } from "../connection.ts";
import { scheduleFrom, schedulesName, type StoredSchedule } from "./stored.ts";

export async function ringSchedules(
  connection: Pick<Connection, "again" | "collection">,
  ...due: Due
): Promise<readonly Rung[]> {
  const found = await ringDue<StoredSchedule>(connection, schedulesName, due, { body: 0 });
  return found.map((stored) => ({ kind: "schedule", schedule: scheduleFrom(stored) }));
}
