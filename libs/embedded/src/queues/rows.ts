/**
 * The rows of queues: their settings, places and alarms. All calls but the reads are for use inside a write.
 *
 * (1) Every write that sets a queue's alarm raises its `seq` (`alarmAt` of lanes.ts).
 * (2) An insert that finds the row deleted makes the queue anew in the same write; the row's places continue.
 */
import { type DatabaseSync } from "node:sqlite";
import {
  limits,
  type Message,
  queueId,
  type QueueId,
  type QueueLane,
  queueParallelismDefault,
  shardOf,
  tenantId,
  type TenantId,
  cutOff,
  queueNameOf,
} from "@posthaste/domain";
import { type Queue } from "@posthaste/ports";
import { type Alarms, openAlarms } from "../database/alarms.ts";
import { integer, optionalInteger, type Row, text } from "../database/rows.ts";
import { alarmAt, soonest } from "../lanes.ts";
import { isKnownFormat } from "../messages/records.ts";

export type QueuePlace = { readonly queue: number; readonly place: number };
type InQueue = Pick<Message, "tenant" | "format"> & { readonly queue: QueueId };
export type KeyedQueue = { readonly key: number; readonly lane: QueueLane };

export type QueueRows = Alarms & {
  /** Takes the next place. Makes a missing or deleted queue anew. The row keeps the highest format of the messages that have joined. */
  join(message: InQueue, now: number): QueuePlace;
  /** Reserves `count` places for children that are made later, and returns the first. Makes a missing or deleted queue anew, too. */
  reserve(fanOut: InQueue, count: number, now: number): QueuePlace;
  /** Counts a child that takes its reserved place, also in a queue that was deleted since. */
  takeReserved(key: number, now: number): void;
  make(tenant: TenantId, name: string, now: number): KeyedQueue;
  change(key: number, parallelism: number, paused: boolean, now: number): void;
  end(key: number, now: number): void;
  /** Counts one live record fewer. */
  countEnd(key: number): void;
  wake(key: number, now: number): void;
  rest(key: number, wakeAt: number | undefined): void;
  find(id: QueueId): KeyedQueue | undefined;
  keyOf(id: QueueId): number | undefined;
  /** Counts queues that are not deleted. */
  count(tenant: TenantId): number;
  get(tenant: TenantId, name: string): Queue | undefined;
  list(tenant: TenantId, after: string, limit: number): readonly Queue[];
  /** Removes rows that were deleted a day ago and have no record left. Returns how many it has checked. */
  sweep(now: number, limit: number): number;
};

export function openQueueRows(db: DatabaseSync): QueueRows {
  const byId = db.prepare(`SELECT * FROM queues WHERE id = ? AND ${isKnownFormat}`);
  const keyById = db.prepare(`SELECT key FROM queues WHERE id = ? AND ${isKnownFormat}`);
  const insert = db.prepare(`
    INSERT INTO queues (id, tenant, name, shard, format, parallelism, paused, created_at, updated_at)
    VALUES (?, ?, ?, ?, 1, ?, 0, ?, ?)
    ON CONFLICT (id) DO UPDATE SET parallelism = excluded.parallelism, paused = 0, created_at = excluded.created_at,
      updated_at = excluded.updated_at, ended_at = NULL RETURNING *`);
  const step = db.prepare(`
    UPDATE queues SET last_place = last_place + 1, lag = lag + 1, format = max(format, ?), ${alarmAt(soonest)}
    WHERE id = ? AND ended_at IS NULL RETURNING key, last_place`);
  const reserve = db.prepare(`
    UPDATE queues SET last_place = last_place + ?, format = max(format, ?) WHERE id = ? AND ended_at IS NULL RETURNING key, last_place`);
  const takeReserved = db.prepare(
    `UPDATE queues SET lag = lag + 1, ${alarmAt(soonest)} WHERE key = ?`,
  );
  const change = db.prepare(
    `UPDATE queues SET parallelism = ?, paused = ?, updated_at = ?, ${alarmAt("?")} WHERE key = ?`,
  );
  const end = db.prepare(
    `UPDATE queues SET ended_at = ?, purge_up_to = last_place, paused = 0, ${alarmAt("?")} WHERE key = ?`,
  );
  const countEnd = db.prepare("UPDATE queues SET lag = lag - 1 WHERE key = ?");
  const wake = db.prepare(`UPDATE queues SET ${alarmAt(soonest)} WHERE key = ?`);
  const rest = db.prepare("UPDATE queues SET wake_at = ? WHERE key = ?");
  const living = "FROM queues WHERE tenant = ? AND ended_at IS NULL";
  const count = db.prepare(`SELECT count(*) AS n ${living}`);
  const get = db.prepare(`SELECT * ${living} AND name = ?`);
  const list = db.prepare(`SELECT * ${living} AND name > ? ORDER BY name LIMIT ?`);
  const longEnded = db.prepare(
    "SELECT key FROM queues WHERE ended_at <= ? AND wake_at IS NULL ORDER BY ended_at LIMIT ?",
  );
  const hasRecord = db.prepare(`
    SELECT 1 FROM messages WHERE queue = ?1
    UNION ALL SELECT 1 FROM fan_outs WHERE queue = ?1 AND ended_at IS NULL LIMIT 1`);
  const remove = db.prepare("DELETE FROM queues WHERE key = ?");

  const make = (tenant: TenantId, name: string, now: number): KeyedQueue => {
    const id = queueId(tenant, name);
    const row = insert.get(id, tenant, name, shardOf(id), queueParallelismDefault, now, now);
    if (!row) throw new Error("unreachable: an insert that updates returns its row");
    return standingFrom(row);
  };

  const inLiving = ({ tenant, queue }: InQueue, now: number, write: () => Row | undefined) => {
    const row = write();
    if (row) return row;
    make(tenant, queueNameOf(tenant, queue), now);
    return write();
  };

  const alarms = openAlarms(db, {
    table: "queues",
    key: "key",
    columns: "tenant, name",
    read: (row) => ({ kind: "lane", lane: idFrom(row) }),
    set: alarmAt("?"),
  });

  return {
    ...alarms,
    make,
    join: (message, now) => {
      const { format = 1, queue } = message;
      const row = inLiving(message, now, () => step.get(format, now, now, queue));
      return { queue: integer(row?.["key"]), place: integer(row?.["last_place"]) };
    },
    reserve: (fanOut, places, now) => {
      const { format = 1, queue } = fanOut;
      const row = inLiving(fanOut, now, () => reserve.get(places, format, queue));
      return { queue: integer(row?.["key"]), place: integer(row?.["last_place"]) - places + 1 };
    },
    takeReserved: (key, now) => void takeReserved.run(now, now, key),
    change: (key, parallelism, paused, now) =>
      void change.run(parallelism, paused ? 1 : 0, now, now, key),
    end: (key, now) => void end.run(now, now, key),
    countEnd: (key) => void countEnd.run(key),
    wake: (key, now) => void wake.run(now, now, key),
    rest: (key, wakeAt) => void rest.run(wakeAt ?? null, key),
    find: (id) => {
      const row = byId.get(id);
      return row && standingFrom(row);
    },
    keyOf: (id) => optionalInteger(keyById.get(id)?.["key"] ?? null),
    count: (tenant) => integer(count.get(tenant)?.["n"]),
    get: (tenant, name) => {
      const row = get.get(tenant, name);
      return row && queueFrom(row);
    },
    list: (tenant, after, limit) => list.all(tenant, after, limit).map(queueFrom),
    sweep: (now, limit) => {
      const rows = longEnded.all(cutOff(limits.laneKeptMs, now), limit);
      for (const { key } of rows) if (!hasRecord.get(integer(key))) remove.run(integer(key));
      return rows.length;
    },
  };
}

const idFrom = (row: Row): QueueId => queueId(tenantId(text(row["tenant"])), text(row["name"]));

function standingFrom(row: Row): KeyedQueue {
  const endedAt = optionalInteger(row["ended_at"]);
  const purgeUpTo = optionalInteger(row["purge_up_to"]);
  const lane = {
    id: idFrom(row),
    tenant: tenantId(text(row["tenant"])),
    name: text(row["name"]),
    shard: integer(row["shard"]),
    parallelism: integer(row["parallelism"]),
    paused: integer(row["paused"]) === 1,
    createdAt: integer(row["created_at"]),
    updatedAt: integer(row["updated_at"]),
    wakeAt: optionalInteger(row["wake_at"]),
    seq: integer(row["seq"]),
    ...(endedAt !== undefined && { endedAt }),
    ...(purgeUpTo !== undefined && { purgeUpTo }),
  };
  return { key: integer(row["key"]), lane };
}

const queueFrom = (row: Row): Queue => ({
  name: text(row["name"]),
  parallelism: integer(row["parallelism"]),
  paused: integer(row["paused"]) === 1,
  createdAt: integer(row["created_at"]),
  updatedAt: integer(row["updated_at"]),
  lag: integer(row["lag"]),
});
