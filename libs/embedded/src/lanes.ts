/** Lanes: the rows that hold the limits, the alarm and the rate window of those who wait in them. */
import { type DatabaseSync } from "node:sqlite";
import {
  type FlowLimits,
  laneId,
  type LaneId,
  limits,
  type Message,
  type RateWindow,
  tenantId,
} from "@posthaste/domain";
import { type Clock, type LaneRow } from "@posthaste/ports";
import { integer, optionalInteger, type Row, stored, text } from "./database/rows.ts";

export type Lanes = {
  /** Inside a write: makes the row of the message's lane, or gives it the message's limits. Answers its key. */
  join(message: Message): number | null;
  /** Inside a write: somebody has got into line. */
  arrive(id: LaneId, now: number): void;
  /** Inside a write: rings due alarms, moving each ahead. `shards`: JSON, or undefined for all. */
  ring(shards: string | undefined, now: number, limit: number): readonly LaneId[];
  rows(ids: readonly LaneId[]): readonly LaneRow[];
  key(id: LaneId): number | undefined;
  rest(
    id: LaneId,
    seq: number,
    wakeAt: number | undefined,
    window: RateWindow | undefined,
  ): boolean;
  /** Inside a write: what the lane has dispatched in its present period. */
  keepWindow(id: LaneId, window: RateWindow): void;
  nextAlarm(shards: string | undefined): number | undefined;
  /** Inside a write: removes rows that nobody needs: no alarm, no record, no open window. Looks at `limit` of them. */
  sweep(limit: number): void;
};

export function openLanes(db: DatabaseSync, clock: Clock): Lanes {
  const join = db.prepare(`
    INSERT INTO lanes (id, tenant, flow_key, shard, limits) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (id) DO UPDATE SET limits = excluded.limits RETURNING key`);
  const arrive = db.prepare(
    "UPDATE lanes SET seq = seq + 1, wake_at = min(coalesce(wake_at, ?), ?) WHERE id = ?",
  );
  const ring =
    "UPDATE lanes SET wake_at = ? WHERE key IN (SELECT key FROM lanes WHERE wake_at <= ?";
  const ringAll = db.prepare(`${ring} ORDER BY wake_at LIMIT ?) RETURNING id`);
  const ringSome = db.prepare(
    `${ring} AND shard IN (SELECT value FROM json_each(?)) ORDER BY wake_at LIMIT ?) RETURNING id`,
  );
  const select = db.prepare("SELECT * FROM lanes WHERE id = ?");
  const keyOf = db.prepare("SELECT key FROM lanes WHERE id = ?");
  const rest = db.prepare(`
    UPDATE lanes SET wake_at = ?, window_started_at = ?, window_count = ? WHERE id = ? AND seq = ?`);
  const keepWindow = db.prepare(
    "UPDATE lanes SET window_started_at = ?, window_count = ? WHERE id = ?",
  );
  const alarm = "SELECT wake_at FROM lanes WHERE wake_at IS NOT NULL";
  const nextOfAll = db.prepare(`${alarm} ORDER BY wake_at LIMIT 1`);
  const nextOfSome = db.prepare(
    `${alarm} AND shard IN (SELECT value FROM json_each(?)) ORDER BY wake_at LIMIT 1`,
  );
  const page = db.prepare(
    "SELECT max(key) AS last, count(*) AS n FROM (SELECT key FROM lanes WHERE key > ? ORDER BY key LIMIT ?)",
  );
  const sweep = db.prepare(`
    DELETE FROM lanes WHERE key > ? AND key <= ? AND wake_at IS NULL
      AND NOT EXISTS (SELECT 1 FROM messages WHERE messages.lane = lanes.key)
      AND coalesce(window_started_at, 0) < ?`);
  let sweptUpTo = 0;

  return {
    join: (message) => {
      const { flowLane, policy, tenant } = message;
      if (flowLane === undefined || policy.flow === undefined) return null;
      const { key, limits: flowLimits } = policy.flow;
      return integer(
        join.get(flowLane, tenant, key, message.shard, JSON.stringify(flowLimits))?.["key"],
      );
    },
    arrive: (id, now) => void arrive.run(now, now, id),
    ring: (shards, now, limit) => {
      const ahead = now + limits.ringAheadMs;
      const rows =
        shards === undefined
          ? ringAll.all(ahead, now, limit)
          : ringSome.all(ahead, now, shards, limit);
      return rows.map((row) => laneId(text(row["id"])));
    },
    rows: (ids) => ids.flatMap((id) => select.all(id).map(laneFrom)),
    key: (id) => {
      const row = keyOf.get(id);
      return row && integer(row["key"]);
    },
    rest: (id, seq, wakeAt, window) =>
      rest.run(wakeAt ?? null, window?.startedAt ?? null, window?.count ?? null, id, seq)
        .changes === 1,
    keepWindow: (id, window) => void keepWindow.run(window.startedAt, window.count, id),
    nextAlarm: (shards) => {
      const row = shards === undefined ? nextOfAll.get() : nextOfSome.get(shards);
      return row && integer(row["wake_at"]);
    },
    sweep: (limit) => {
      const looked = page.get(sweptUpTo, limit);
      const last = optionalInteger(looked?.["last"] ?? null);
      if (last !== undefined) sweep.run(sweptUpTo, last, clock.now() - limits.flowPeriodMsMax);
      sweptUpTo = last === undefined || integer(looked?.["n"]) < limit ? 0 : last;
    },
  };
}

function laneFrom(row: Row): LaneRow {
  const startedAt = optionalInteger(row["window_started_at"]);
  return {
    id: laneId(text(row["id"])),
    tenant: tenantId(text(row["tenant"])),
    key: text(row["flow_key"]),
    shard: integer(row["shard"]),
    limits: stored<FlowLimits>(text(row["limits"])),
    wakeAt: optionalInteger(row["wake_at"]),
    window:
      startedAt === undefined ? undefined : { startedAt, count: integer(row["window_count"]) },
    seq: integer(row["seq"]),
  };
}
