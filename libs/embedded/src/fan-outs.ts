/**
 * Fan-outs: publishes to groups, from their insert until the last child that uses their body is removed.
 *
 * (1) The insert reserves positions for all children: a child's key, and so its place in line, is as old as its publish, however late the
 *     child is made.
 * (2) A chunk is in use from the insert until the fan-out is expanded.
 */
import { type DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import {
  advanceTo,
  tooFarAheadAfter,
  type FanOut,
  type FanOutTarget,
  flowsOf,
  type MessageId,
  parentOf,
  type QueueId,
  type Template,
  type TenantId,
} from "@posthaste/domain";
import { type Clock, type DeduplicationEntry, type FanOuts, type Inserted } from "@posthaste/ports";
import { type Alarms, openAlarms } from "./database/alarms.ts";
import { integer, optionalInteger, type Row, stored, text } from "./database/rows.ts";
import { type Lanes } from "./lanes.ts";
import { bodyFrom, type Configurations, wholeText } from "./messages/configurations.ts";
import { idOf, type Names, type Positions } from "./messages/positions.ts";
import { isKnownFormat } from "./messages/records.ts";
import { type QueueRows, type QueuePlace } from "./queues/rows.ts";
import { type TenantKeys } from "./tenants.ts";
import { type Windows } from "./tokens/windows.ts";

type Parts = {
  readonly db: DatabaseSync;
  readonly clock: Clock;
  readonly positions: Positions;
  readonly names: Names;
  readonly configurations: Configurations;
  readonly tenants: TenantKeys;
  readonly lanes: Lanes;
  readonly queues: QueueRows;
  readonly windows: Windows;
};

/** The position of a child's body, and what was reserved for the child: its own position, and its place in a queue. */
type Keeper = {
  readonly position: number;
  readonly reserved: number;
  readonly spot: QueuePlace | undefined;
};

export type FanOutRows = Alarms & {
  /** For use inside a write. */
  readonly insert: (fanOut: FanOut, deduplication: readonly DeduplicationEntry[]) => Inserted;
  readonly get: (tenant: TenantId, id: MessageId) => FanOut | undefined;
  readonly expanding: (...given: Parameters<FanOuts["expanding"]>) => readonly MessageId[];
  /** For use inside a write. */
  readonly advance: (...given: Parameters<FanOuts["advance"]>) => boolean;
  readonly keeperOf: (child: MessageId) => Keeper | undefined;
  /** Returns the lowest place in the queue after `after` that is reserved for a child not made yet. */
  readonly firstUnmade: (queue: number, after: number) => number | undefined;
  /** Counts one more record that uses the body at `position`. For use inside a write. */
  readonly addChild: (position: number) => void;
  /**
   * Uncounts the records at `positions` (a JSON array), which are about to be removed, from the bodies that they use. For use inside a
   * write.
   */
  readonly removeChildren: (positions: string) => void;
  /** Returns the positions of fan-outs without children that were expanded before `endedBefore`. */
  readonly removable: (shards: string, endedBefore: number, limit: number) => readonly number[];
  readonly remove: (positions: string) => void;
};

type StoredFanOut = Template & { readonly fanOut: FanOutTarget; readonly queue?: QueueId };

export function openFanOuts(parts: Parts): FanOutRows {
  const { db, clock, positions, names, configurations, tenants, lanes, queues, windows } = parts;
  const put = db.prepare(`
    INSERT INTO fan_outs (position, name, tenant, shard, format, up_to, wake_at, first, last, crc, json, queue, queue_place)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const exists = db.prepare("SELECT 1 FROM fan_outs WHERE position = ?");
  const useChunk = db.prepare("INSERT OR IGNORE INTO chunk_uses (chunk, parent) VALUES (?, ?)");
  const freeChunks = db.prepare("DELETE FROM chunk_uses WHERE parent = ?");
  const select = db.prepare(`
    SELECT f.*, b.bytes, b.crc AS body_crc FROM fan_outs f LEFT JOIN bodies b ON b.position = f.position
    WHERE f.position = ? AND f.name = ? AND f.tenant = ? AND f.${isKnownFormat}`);
  const expanding = db.prepare(`
    SELECT position, name FROM fan_outs
    WHERE wake_at IS NOT NULL AND tenant = ? AND position > ? AND position < ? AND ${isKnownFormat}
    ORDER BY position LIMIT ?`);
  const advance = db.prepare(`
    UPDATE fan_outs SET up_to = ?, ended_at = ?, wake_at = ?
    WHERE position = ? AND name = ? AND ended_at IS NULL AND up_to = ? AND ${isKnownFormat} RETURNING queue`);
  const keeper = db.prepare(
    "SELECT position, first, queue, queue_place FROM fan_outs WHERE position = ? AND name = ?",
  );
  const inQueue = db.prepare(`
    SELECT queue_place + up_to AS stop FROM fan_outs
    WHERE queue = ? AND queue_place > ? AND ended_at IS NULL ORDER BY queue_place LIMIT 1`);
  const addChild = db.prepare("UPDATE fan_outs SET children = children + 1 WHERE position = ?");
  const removeChildren = db.prepare(`
    UPDATE fan_outs SET children = children - gone.n
    FROM (SELECT body_of, count(*) AS n FROM messages
      WHERE position IN (SELECT value FROM json_each(?)) AND body_of IS NOT NULL GROUP BY body_of) AS gone
    WHERE fan_outs.position = gone.body_of`);
  const removable = db.prepare(`
    SELECT position FROM fan_outs
    WHERE ended_at IS NOT NULL AND children = 0 AND (ended_at < ? OR ended_at > ?) AND ${isKnownFormat}
      AND shard IN (SELECT value FROM json_each(?)) LIMIT ?`);
  const remove = db.prepare(
    "DELETE FROM fan_outs WHERE position IN (SELECT value FROM json_each(?))",
  );

  const alarms = openAlarms(db, {
    table: "fan_outs",
    key: "position",
    columns: "position, name, tenant",
    read: (row) => ({
      kind: "fanOut",
      id: idOf({ position: integer(row["position"]), name: text(row["name"]) }),
      tenant: tenants.name(integer(row["tenant"])),
    }),
  });

  return {
    ...alarms,
    insert: (fanOut, deduplication) => {
      const { id, tenant, format = 1, queue, state, body, endpointCount } = fanOut;
      const address = names.take(id, clock.now());
      if (!address || exists.get(address.position) || state.kind !== "expanding") return "known";
      for (const each of flowsOf(fanOut).sets) lanes.configure(each, clock.now());
      const { position, name } = address;
      const first = positions.next(endpointCount);
      const spot =
        queue === undefined
          ? undefined
          : queues.reserve({ tenant, queue, format }, endpointCount, clock.now());
      const json = JSON.stringify(storedFrom(fanOut));
      put.run(
        position, name, tenants.take(tenant), fanOut.shard, format, state.upTo, fanOut.wakeAt ?? null,
        first, first + endpointCount - 1, crc32(json), json, spot?.queue ?? null, spot?.place ?? null,
      ); // oxfmt-ignore
      configurations.putBody(position, body);
      for (const chunk of fanOut.chunks) useChunk.run(chunk, position);
      windows.put(deduplication);
      return "inserted";
    },
    get: (tenant, id) => {
      const address = names.find(id);
      const key = tenants.find(tenant);
      if (!address || key === undefined) return undefined;
      const row = select.get(address.position, address.name, key);
      return row && fanOutFrom(row, id, tenant);
    },
    expanding: (tenant, after, before, limit) => {
      const from = after === undefined ? 0 : (names.find(after)?.position ?? 0);
      const to = names.find(before)?.position ?? Number.MAX_SAFE_INTEGER;
      const rows = expanding.all(tenants.find(tenant) ?? null, from, to, limit);
      return rows.map((row) =>
        idOf({ position: integer(row["position"]), name: text(row["name"]) }),
      );
    },
    advance: (id, from, upTo, done) => {
      const address = names.find(id);
      if (!address) return false;
      const { position, name } = address;
      const { state, wakeAt = null } = advanceTo(upTo, done, clock.now());
      const endedAt = state.kind === "expanded" ? state.endedAt : null;
      const row = advance.get(upTo, endedAt, wakeAt, position, name, from);
      if (!row) return false;
      const queue = optionalInteger(row["queue"]);
      if (queue !== undefined) queues.wake(queue, clock.now());
      if (done) freeChunks.run(position);
      return true;
    },
    keeperOf: (child) => {
      const named = parentOf(child);
      const address = named && names.find(named.parent);
      const row = address && keeper.get(address.position, address.name);
      if (!row) return undefined;
      const reserved = integer(row["first"]) + named.index;
      const queue = optionalInteger(row["queue"]);
      const spot =
        queue === undefined
          ? undefined
          : { queue, place: integer(row["queue_place"]) + named.index };
      return { position: integer(row["position"]), reserved, spot };
    },
    firstUnmade: (queue, after) => {
      const row = inQueue.get(queue, after);
      return row && integer(row["stop"]);
    },
    addChild: (position) => void addChild.run(position),
    removeChildren: (gone) => void removeChildren.run(gone),
    removable: (shards, endedBefore, limit) =>
      removable
        .all(endedBefore, tooFarAheadAfter(0, clock.now()), shards, limit)
        .map((row) => integer(row["position"])),
    remove: (gone) => void remove.run(gone),
  };
}

const storedFrom = ({
  template,
  queue,
  group,
  chunks,
  endpointCount,
  skipped,
}: FanOut): StoredFanOut => ({
  ...template,
  ...(queue !== undefined && { queue }),
  fanOut: { group, chunks, endpointCount, skipped },
});

function fanOutFrom(row: Row, id: MessageId, tenant: TenantId): FanOut {
  const { fanOut, queue, ...template } = stored<StoredFanOut>(wholeText(row, id));
  const format = integer(row["format"]);
  const endedAt = optionalInteger(row["ended_at"]);
  return {
    ...fanOut,
    id,
    ...(format > 1 && { format }),
    tenant,
    shard: integer(row["shard"]),
    ...(queue !== undefined && { queue }),
    template,
    body: bodyFrom(row, id),
    state:
      endedAt === undefined
        ? { kind: "expanding", upTo: integer(row["up_to"]) }
        : { kind: "expanded", endedAt },
    wakeAt: optionalInteger(row["wake_at"]),
  };
}
