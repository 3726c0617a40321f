/** The end of records: the sweep of what has been finished for a while (I5), in batches, never one by one. */
import { shardCount } from "@posthaste/domain";
import { integer, text } from "../database/rows.ts";
import { firstFinishedCode } from "./records.ts";
import { type Rooms } from "./rooms.ts";

type Removed = { readonly removed: number; readonly more: boolean };
export type Removing = {
  /** At most `limit`. Answers how many went, and whether there may be more. */
  readonly removeFinished: (
    shards: readonly number[],
    endedBefore: number,
    limit: number,
  ) => Removed;
  /** Tombstones, windows and lanes whose time is over. */
  readonly sweep: (limit: number) => void;
};

export function openRemoving(rooms: Rooms): Removing {
  const { db, clock, configurations, finished, lanes, names, windows, writer } = rooms;
  const batch = "position IN (SELECT value FROM json_each(?))";
  const removable = db.prepare(`
    SELECT json_group_array(position) AS positions, count(*) AS n FROM messages
    WHERE ${batch} AND state >= ${firstFinishedCode} AND outbox = 0 AND children = 0
      AND shard IN (SELECT value FROM json_each(?))`);
  const inOtherShards = db.prepare(`
    SELECT position, until FROM messages
    WHERE ${batch} AND state >= ${firstFinishedCode} AND shard NOT IN (SELECT value FROM json_each(?))`);
  const removeChildren = db.prepare(`
    UPDATE messages SET children = children - gone.n
    FROM (SELECT body_of, count(*) AS n FROM messages WHERE ${batch} AND body_of IS NOT NULL GROUP BY body_of) AS gone
    WHERE messages.position = gone.body_of RETURNING position, until, children, state`);
  const remove = db.prepare(`DELETE FROM messages WHERE ${batch}`);

  const removeAll = (positions: string, now: number): void => {
    for (const parent of removeChildren.all(positions)) {
      if (integer(parent["children"]) > 0 || integer(parent["state"]) < firstFinishedCode) continue;
      const position = integer(parent["position"]);
      const endedAt = integer(parent["until"]);
      writer.onCommit(() => finished.add(position, endedAt));
    }
    remove.run(positions);
    names.bury(positions, now);
    configurations.removeOrphans(positions);
  };

  return {
    removeFinished: (shards, endedBefore, limit) => {
      const { positions, upTo } = finished.first(endedBefore, limit);
      if (positions.length === 0) return { removed: 0, more: false };
      writer.onCommit(() => finished.drop(upTo));
      const asked = JSON.stringify(positions.sort((a, b) => a - b));
      const inShards = JSON.stringify(shards);
      const row = removable.get(asked, inShards);
      removeAll(text(row?.["positions"]), clock.now());
      if (shards.length < shardCount) {
        for (const other of inOtherShards.all(asked, inShards)) {
          const [position, endedAt] = [integer(other["position"]), integer(other["until"])];
          writer.onCommit(() => finished.add(position, endedAt));
        }
      }
      return { removed: integer(row?.["n"]), more: positions.length === limit };
    },
    sweep: (limit) => {
      const now = clock.now();
      names.sweep(now, limit);
      windows.sweep(now, limit);
      lanes.sweep(limit);
    },
  };
}
