/** The documents of the collection `schedules`: one for each schedule, keyed by tenant and id. */
import { type Schedule, type WholeSchedule } from "@posthaste/domain";
import { type ScheduleKey, type Rung } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { byTime, type Index } from "../indexes.ts";
import { type Connection } from "../connection.ts";
import { type Due, ringDue } from "../alarms.ts";

export const schedulesName = "schedules";

export const scheduleIndexes: readonly Index[] = [
  byTime(schedulesName, "wakeAt"),
  { collection: schedulesName, key: { tenant: 1, createdAt: 1, id: 1 }, is: "needed" },
];

/**
 * `write` names the write that made this version: a try whose reply was lost recognizes its own write by this name
 * (docs/design/record#writes-whose-answer-was-lost).
 */
export type StoredSchedule = Schedule & {
  readonly _id: string;
  readonly body: Uint8Array;
  readonly write: string;
};

export const keyOf = ({ tenant, id }: ScheduleKey): string => `${tenant}/${id}`;

export function scheduleFrom(stored: Omit<StoredSchedule, "body">): Schedule {
  const { _id, write, ...schedule } = stored;
  return schedule;
}

export const wholeFrom = ({ body, ...stored }: StoredSchedule): WholeSchedule => ({
  ...scheduleFrom(stored),
  body: bytes(body),
});

/** Fields that are unset when absent. */
const passing = ["next", "pending", "last", "wakeAt"] as const;
type Passing = (typeof passing)[number];

/** Returns the update that sets `fields` and unsets the passing fields that they lack. */
export const fieldsUpdate = (fields: Partial<StoredSchedule>) => ({
  $set: fields,
  $unset: Object.fromEntries(
    passing.filter((name) => fields[name] === undefined).map((name) => [name, ""]),
  ) as Partial<Record<Passing, "">>,
});

export const movingPart = ({ version, next, pending, last, wakeAt, isPaused }: Schedule) => ({
  version,
  isPaused,
  ...(next !== undefined && { next }),
  ...(pending !== undefined && { pending }),
  ...(last !== undefined && { last }),
  ...(wakeAt !== undefined && { wakeAt }),
});

export async function ringSchedules(
  connection: Pick<Connection, "again" | "collection">,
  ...due: Due
): Promise<readonly Rung[]> {
  const found = await ringDue<StoredSchedule>(connection, schedulesName, due, { body: 0 });
  return found.map((stored) => ({ kind: "schedule", schedule: scheduleFrom(stored) }));
}
