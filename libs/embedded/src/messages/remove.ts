/**
 * Removes records that have been finished for a while (I5), in batches, never one by one. A delivered whole row stays
 * as its log, and kept bodies stay (kept-bodies.ts).
 */
import { shardCount, type TenantId } from "@posthaste/domain";
import { integer, stored, text } from "../database/rows.ts";
import { firstFinishedCode, isKnownFormat } from "./records.ts";
import { type Store } from "./store.ts";
import { freedTogether } from "../query/sweep.ts";

/** An empty JSON array. */
const none = "[]";

type Removed = { readonly removed: number; readonly more: boolean };
export type Removing = {
  /** Removes at most `limit` records. Returns how many, and whether there may be more. */
  readonly removeFinished: (
    shards: readonly number[],
    endedBefore: number,
    limit: number,
    keeps: (tenant: TenantId) => boolean,
  ) => Removed;
  /** Removes expired tombstones, windows, quota rows, lanes and queues, at most `limit` of each. Returns whether there may be more. */
  readonly sweep: (limit: number) => boolean;
};

export function openRemoving(store: Store): Removing {
  const {
    db,
    clock,
    configurations,
    fanOuts,
    finished,
    keeping,
    lanes,
    names,
    queues,
    spent,
    tenants,
    windows,
    writer,
  } = store;
  const batch = "position IN (SELECT value FROM json_each(?))";
  const removable = db.prepare(`
    SELECT json_group_array(position) FILTER (WHERE told IS NULL) AS positions,
      json_group_array(position) FILTER (WHERE told IS NOT NULL) AS wholes,
      json_group_array(DISTINCT tenant) AS tenants, count(*) AS n FROM messages
    WHERE ${batch} AND state >= ${firstFinishedCode} AND outbox = 0 AND ${isKnownFormat}
      AND shard IN (SELECT value FROM json_each(?))`);
  const inOtherShards = db.prepare(`
    SELECT position, until, told FROM messages
    WHERE ${batch} AND state >= ${firstFinishedCode} AND shard NOT IN (SELECT value FROM json_each(?))`);
  const sizes = db.prepare(`
    SELECT coalesce(length(bytes), 0) AS bytes FROM json_each(?) LEFT JOIN bodies ON position = value
    ORDER BY json_each.key`);
  const remove = db.prepare(`DELETE FROM messages WHERE ${batch}`);

  const countWithin = (positions: readonly number[]): number =>
    freedTogether(sizes.all(JSON.stringify(positions))).length;

  const bury = (positions: string): void => {
    names.bury(positions, clock.now());
    configurations.removeOrphans(positions);
  };

  const removeAll = (positions: string, forgotten: string): void => {
    keeping.note(positions, forgotten);
    fanOuts.removeChildren(positions);
    remove.run(positions);
    bury(positions);
  };

  /** Returns how many fan-outs were removed. */
  const removeFanOuts = (shards: readonly number[], endedBefore: number, limit: number): number => {
    const expanded = fanOuts.removable(JSON.stringify(shards), endedBefore, limit);
    if (expanded.length === 0) return 0;
    const portion = expanded.slice(0, countWithin(expanded));
    fanOuts.remove(JSON.stringify(portion));
    bury(JSON.stringify(portion));
    return portion.length;
  };

  return {
    removeFinished: (shards, endedBefore, limit, keeps) => {
      const expanded = removeFanOuts(shards, endedBefore, limit);
      if (expanded > 0) return { removed: expanded, more: true };
      const ended = finished.first({ endedBefore, now: clock.now() }, limit);
      if (ended.positions.length === 0) return { removed: 0, more: false };
      const positions = ended.positions.slice(0, countWithin(ended.positions));
      const left = ended.positions.length - positions.length;
      const asked = JSON.stringify(positions.sort((a, b) => a - b));
      const inShards = JSON.stringify(shards);
      const row = removable.get(asked, inShards);
      const [others, wholes] = [text(row?.["positions"]), text(row?.["wholes"])];
      const forgotten = JSON.stringify(
        stored<readonly number[]>(text(row?.["tenants"])).filter(
          (tenant) => !keeps(tenants.name(tenant)),
        ),
      );
      if (others !== none) removeAll(others, forgotten);
      if (wholes !== none) keeping.forget(wholes, forgotten);
      const inOthers = shards.length < shardCount ? inOtherShards.all(asked, inShards) : [];
      writer.onCommit(() => {
        const kept = inOthers
          .map((other) => ({
            position: integer(other["position"]),
            endedAt: integer(other["until"]),
            isWhole: other["told"] !== null,
          }))
          // A sweep of the same batch may have ended a whole row, which stays.
          .filter(({ isWhole, position }) => !isWhole || finished.standsWhole(position));
        finished.drop(ended.upTo - left);
        finished.end(stored<readonly number[]>(wholes));
        for (const { endedAt, isWhole, position } of kept) finished.add(position, endedAt, isWhole);
      });
      return { removed: integer(row?.["n"]), more: ended.positions.length === limit || left > 0 };
    },
    sweep: (limit) => {
      const now = clock.now();
      const swept = [
        names.sweep(now, limit),
        windows.sweep(now, limit),
        spent.sweep(now, limit),
        lanes.sweep(limit),
        queues.sweep(now, limit),
      ];
      return swept.some((count) => count >= limit);
    },
  };
}
