/**
 * Lanes: the rows with the limits, the alarm and the rate window of the records that wait in them.
 *
 * (1) Every write that sets a lane's alarm raises its `seq` (`alarmAt`), the fence of `rest`: a granter that looked
 *     before cannot put the lane to rest after it.
 */
import { type DatabaseSync } from "node:sqlite";
import {
  areSameLimits,
  type Flow,
  flowId,
  type FlowId,
  type FlowLane,
  flowLaneId,
  type FlowLimits,
  isForgettable,
  type Limited,
  limits,
  limitsPublished,
  noPins,
  pin,
  type Pinned,
  type Pins,
  type RateWindow,
  tenantId,
  type TenantId,
  unpin,
  cutOff,
} from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";
import { type Alarms, openAlarms } from "./database/alarms.ts";
import { integer, optionalInteger, type Row, stored, text } from "./database/rows.ts";
import { isKnownFormat } from "./messages/records.ts";

export type Lanes = Alarms & {
  /** Sets the lane's limits, and wakes the lane if they change. For use inside a write. */
  configure(flow: Flow, now: number): void;
  /** Returns the lane's key; makes a missing row, with these limits. For use inside a write. */
  join(flow: Flow, now: number): number;
  /** Wakes the lane: a record has joined its line, or may continue. For use inside a write. */
  wake(id: FlowId, now: number): void;
  rows(ids: readonly FlowId[]): readonly FlowLane[];
  /**
   * Lists lanes after `after` in the order of their keys, and looks at `lanesPerTurn` of them. `next` is present when
   * there may be more.
   */
  list(
    tenant: TenantId,
    search: string,
    after: FlowId | undefined,
    limit: number,
  ): { readonly lanes: readonly FlowLane[]; readonly next?: FlowId };
  /** Pins limits of the lane, which is made where missing, and wakes it. For use inside a write. */
  pin(flow: Flow, pinned: Pinned, now: number): void;
  /** Returns false when there is no such lane. For use inside a write. */
  unpin(id: FlowId, parts: Pins): boolean;
  /** Pauses or resumes the lane; resuming sets its alarm to now. For use inside a write. */
  pause(flow: Flow, paused: boolean, now: number): void;
  key(id: FlowId): number | undefined;
  rest(
    id: FlowId,
    seq: number,
    wakeAt: number | undefined,
    window: RateWindow | undefined,
  ): boolean;
  /** Stores what the lane has dispatched in its present period. For use inside a write. */
  keepWindow(id: FlowId, window: RateWindow): void;
  /**
   * Removes lanes that are long unused and have neither a record nor an open window. Looks at up to `limit` lanes, and returns at how
   * many. For use inside a write.
   */
  sweep(limit: number): number;
};

/** A tenant may have a million lanes, and nothing else runs during a look. */
const lanesPerTurn = 5_000;

/** Returns the SQL that sets an alarm; every alarm is set by it. */
export const alarmAt = (wakeAt: string): string => `wake_at = ${wakeAt}, seq = seq + 1`;
export const soonest = "min(coalesce(wake_at, ?), ?)";

export function openLanes(db: DatabaseSync, clock: Clock): Lanes {
  const make = db.prepare(`
    INSERT INTO lanes (id, tenant, flow_key, shard, limits, format, used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING key`);
  const raiseFormat = db.prepare("UPDATE lanes SET format = ? WHERE id = ?");
  const use = db.prepare("UPDATE lanes SET used_at = ? WHERE key = ?");
  const wake = db.prepare(`UPDATE lanes SET ${alarmAt(soonest)}, used_at = ? WHERE id = ?`);
  const select = db.prepare("SELECT * FROM lanes WHERE id = ?");
  const lastOfTurn = db.prepare(
    `SELECT id FROM lanes WHERE id > ? AND id < ? ORDER BY id LIMIT 1 OFFSET ${lanesPerTurn - 1}`,
  );
  const list = db.prepare(
    "SELECT * FROM lanes WHERE id > ? AND id <= ? AND instr(flow_key, ?) > 0 ORDER BY id LIMIT ?",
  );
  const limit = db.prepare("UPDATE lanes SET limits = ?, pins = ? WHERE id = ?");
  const pause = db.prepare("UPDATE lanes SET paused = ?, used_at = ? WHERE id = ?");
  const find = db.prepare("SELECT key, format, limits, pins FROM lanes WHERE id = ?");
  const rest = db.prepare(`
    UPDATE lanes SET wake_at = ?, window_started_at = ?, window_count = ? WHERE id = ? AND seq = ?`);
  const keepWindow = db.prepare(
    "UPDATE lanes SET window_started_at = ?, window_count = ? WHERE id = ?",
  );
  const unused = db.prepare(
    `SELECT * FROM lanes WHERE wake_at IS NULL AND used_at <= ? AND ${isKnownFormat} ORDER BY used_at LIMIT ?`,
  );
  const hasRecord = db.prepare("SELECT 1 FROM messages WHERE lane = ? LIMIT 1");
  const remove = db.prepare("DELETE FROM lanes WHERE key = ?");

  /** Returns the row's key and its stored limits. Makes a missing row. */
  const take = (flow: Flow, now: number): Limited & { readonly key: number } => {
    const { lane, tenant, key, shard, format } = flow;
    const row = find.get(lane);
    if (!row) {
      const made = make.get(lane, tenant, key, shard, JSON.stringify(flow.limits), format, now);
      return { key: integer(made?.["key"]), limits: flow.limits, pins: noPins };
    }
    if (integer(row["format"]) < format) raiseFormat.run(format, lane);
    return { key: integer(row["key"]), ...limitedFrom(row) };
  };

  const setLimited = (id: FlowId, { limits, pins }: Limited): void =>
    void limit.run(JSON.stringify(limits), bitsOf(pins), id);

  const alarms = openAlarms(db, {
    table: "lanes",
    key: "key",
    columns: "id",
    read: (row) => ({ kind: "lane", lane: flowId(text(row["id"])) }),
    set: alarmAt("?"),
  });

  return {
    ...alarms,
    configure: (flow, now) => {
      const standing = take(flow, now);
      const published = limitsPublished(standing, flow.limits);
      if (areSameLimits(standing.limits, published)) return;
      setLimited(flow.lane, { limits: published, pins: standing.pins });
      wake.run(now, now, now, flow.lane);
    },
    join: (flow, now) => take(flow, now).key,
    wake: (id, now) => void wake.run(now, now, now, id),
    rows: (ids) => ids.flatMap((id) => select.all(id).map(laneFrom)),
    list: (tenant, search, after, limit) => {
      const first = flowLaneId(tenant, "");
      const end = first + afterAnyKey;
      const from = after ?? first;
      const last = lastOfTurn.get(from, end);
      const next = last && flowId(text(last["id"]));
      const found = list.all(from, next ?? end, search, limit).map(laneFrom);
      return { lanes: found, ...(next !== undefined && { next }) };
    },
    pin: (flow, pinned, now) => {
      setLimited(flow.lane, pin(take(flow, now), pinned));
      wake.run(now, now, now, flow.lane);
    },
    unpin: (id, parts) => {
      const row = find.get(id);
      if (row) setLimited(id, unpin(limitedFrom(row), parts));
      return row !== undefined;
    },
    pause: (flow, paused, now) => {
      take(flow, now);
      pause.run(paused ? 1 : 0, now, flow.lane);
      if (!paused) wake.run(now, now, now, flow.lane);
    },
    key: (id) => {
      const row = find.get(id);
      return row && integer(row["key"]);
    },
    rest: (id, seq, wakeAt, window) =>
      rest.run(wakeAt ?? null, window?.startedAt ?? null, window?.count ?? null, id, seq)
        .changes === 1,
    keepWindow: (id, window) => void keepWindow.run(window.startedAt, window.count, id),
    sweep: (limit) => {
      const now = clock.now();
      const rows = unused.all(cutOff(limits.laneKeptMs, now), limit);
      for (const row of rows) {
        const key = integer(row["key"]);
        const goes = isForgettable(laneFrom(row), integer(row["used_at"]), now);
        if (goes && !hasRecord.get(key)) remove.run(key);
        // Looks at the lane again when its row may be removable, so that it does not hold up other rows until then.
        else use.run(now, key);
      }
      return rows.length;
    },
  };
}

/** Sorts after every flow key, since flow keys are ASCII. */
const afterAnyKey = "\u{10ffff}";

const bitsOf = ({ parallelism, rate }: Pins): number => (parallelism ? 1 : 0) + (rate ? 2 : 0);

function limitedFrom(row: Row): Limited {
  const bits = integer(row["pins"]);
  return {
    limits: stored<FlowLimits>(text(row["limits"])),
    pins: { parallelism: (bits & 1) !== 0, rate: (bits & 2) !== 0 },
  };
}

function laneFrom(row: Row): FlowLane {
  const startedAt = optionalInteger(row["window_started_at"]);
  const format = integer(row["format"]);
  return {
    id: flowId(text(row["id"])),
    tenant: tenantId(text(row["tenant"])),
    key: text(row["flow_key"]),
    ...(format > 1 && { format }),
    shard: integer(row["shard"]),
    ...limitedFrom(row),
    paused: integer(row["paused"]) === 1,
    wakeAt: optionalInteger(row["wake_at"]),
    window:
      startedAt === undefined ? undefined : { startedAt, count: integer(row["window_count"]) },
    seq: integer(row["seq"]),
  };
}
