/**
 * The Schedules port: a small row that moves, and beside it the body, which does not (docs/design/schedules#the-record).
 * `schedule_counts` has a row for each tenant that ever had a schedule, so that the quota reads one row.
 */
import { type DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type Schedule, type TenantId, type WholeSchedule } from "@posthaste/domain";
import { type ScheduleKey, type Schedules, type Log } from "@posthaste/ports";
import { integer, optionalBytes, optionalInteger } from "../database/rows.ts";
import { type Writer } from "../database/writer.ts";
import { itemFrom, jsonOf, openItemAlarms, openListByAge } from "../database/items.ts";
import { type Alarms } from "../database/alarms.ts";

export function openSchedules(db: DatabaseSync, writer: Writer): Schedules {
  const { get, count } = openReads(db);
  const list = openListByAge<Schedule>(db, "schedules WHERE TRUE", "");
  const putOne = openPut(db);
  const moveOne = openMove(db);
  const remove = db.prepare("DELETE FROM schedules WHERE tenant = ? AND id = ? RETURNING key");
  const removeBody = db.prepare("DELETE FROM schedule_bodies WHERE schedule = ?");
  const countOff = db.prepare("UPDATE schedule_counts SET n = n - 1 WHERE tenant = ?");

  return {
    put: (schedule, intake) =>
      writer.write(() => putOne(schedule), intake, {
        records: 1,
        bytes: schedule.body?.length ?? 0,
      }),
    move: (schedules) => writer.write(() => schedules.map(moveOne), "redoable"),
    get: (keys) => writer.read(() => keys.map(get)),
    list: (tenant, page) => writer.read(() => list(tenant, page)),
    count: (tenant) => writer.glance(() => count(tenant)),
    remove: ({ tenant, id }) =>
      writer.write(() => {
        const row = remove.get(tenant, id);
        if (!row) return;
        removeBody.run(integer(row["key"]));
        countOff.run(tenant);
      }, "accepted"),
  };
}

function openPut(db: DatabaseSync): (schedule: Schedule & { body?: Uint8Array }) => boolean {
  const insert = db.prepare(`
    INSERT INTO schedules (tenant, id, shard, created_at, format, version, wake_at, crc, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, id) DO NOTHING RETURNING key`);
  const replace = db.prepare(`
    UPDATE schedules SET format = ?, version = ?, wake_at = ?, crc = ?, json = ?
    WHERE tenant = ? AND id = ? AND version = ? RETURNING key`);
  const putBody = db.prepare(
    "INSERT OR REPLACE INTO schedule_bodies (schedule, crc, bytes) VALUES (?, ?, ?)",
  );
  const countOn = db.prepare(`
    INSERT INTO schedule_counts (tenant, n) VALUES (?, 1) ON CONFLICT (tenant) DO UPDATE SET n = n + 1`);

  return ({ body, ...schedule }) => {
    const { tenant, id, shard, createdAt, format = 1, version, wakeAt = null } = schedule;
    const { json, crc } = jsonOf(schedule);
    const row =
      version === 1
        ? insert.get(tenant, id, shard, createdAt, format, version, wakeAt, crc, json)
        : replace.get(format, version, wakeAt, crc, json, tenant, id, version - 1);
    if (!row) return false;
    if (body) putBody.run(integer(row["key"]), crc32(body), body);
    if (version === 1) countOn.run(tenant);
    return true;
  };
}

function openMove(db: DatabaseSync): (schedule: Schedule) => boolean {
  const move = db.prepare(`
    UPDATE schedules SET version = ?, wake_at = ?, crc = ?, json = ?
    WHERE tenant = ? AND id = ? AND version = ?`);
  return (schedule) => {
    const { tenant, id, version, wakeAt = null } = schedule;
    const { json, crc } = jsonOf(schedule);
    return move.run(version, wakeAt, crc, json, tenant, id, version - 1).changes === 1;
  };
}

function openReads(db: DatabaseSync) {
  const whole = db.prepare(`
    SELECT s.json, s.crc, s.wake_at, b.bytes, b.crc AS body_crc
    FROM schedules s LEFT JOIN schedule_bodies b ON b.schedule = s.key WHERE s.tenant = ? AND s.id = ?`);
  const countOf = db.prepare("SELECT n FROM schedule_counts WHERE tenant = ?");
  return {
    get: ({ tenant, id }: ScheduleKey): WholeSchedule | undefined => {
      const row = whole.get(tenant, id);
      if (!row) return undefined;
      const body = optionalBytes(row["bytes"] ?? null) ?? noBody;
      if (crc32(body) !== (optionalInteger(row["body_crc"] ?? null) ?? 0))
        throw new Error(`the body of the schedule ${id} is damaged`);
      return { ...itemFrom<Schedule>(row), body };
    },
    count: (tenant: TenantId): number => {
      const row = countOf.get(tenant);
      return row ? integer(row["n"]) : 0;
    },
  };
}

const noBody = new Uint8Array(0);

export const openScheduleAlarms = (db: DatabaseSync, log: Log): Alarms =>
  openItemAlarms<Schedule>(db, log, ["schedules", "schedule"], (schedule) => ({
    kind: "schedule",
    schedule,
  }));
