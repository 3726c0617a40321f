/** The end of records: parents that are expanded, and the sweep of what has been finished for a while (I5). */
import { limits, type MessageId, shardCount } from "@posthaste/domain";
import { integer, text } from "../database/rows.ts";
import { firstFinishedCode, stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Removing = {
  expanded(parent: MessageId, from: number, upTo: number, done: boolean): boolean;
  /** Inside a write; at most `limit`. Answers how many went, and whether there may be more. */
  removeFinished(shards: readonly number[], endedBefore: number, limit: number): { removed: number; more: boolean };
  /** Tombstones, windows and lanes whose time is over. */
  sweep(limit: number): void;
};

export function openRemoving(rooms: Rooms): Removing {
  const { db, clock, configurations, finished, lanes, names, windows, writer, backlog } = rooms;
  const expand = db.prepare(`
    UPDATE messages SET state = ?, until = ?, wake_at = ?
    WHERE position = ? AND name = ? AND state = ${stateCodes.expanding} AND until = ? RETURNING tenant`);
  const freeChunks = db.prepare("DELETE FROM chunk_uses WHERE parent = ?");
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
    expanded: (parent, from, upTo, done) => {
      const address = names.find(parent);
      if (!address) return false;
      const now = clock.now();
      const { position, name } = address;
      const row = done
        ? expand.get(stateCodes.expanded, now, null, position, name, from)
        : expand.get(stateCodes.expanding, upTo, now + limits.ringAheadMs, position, name, from);
      if (!row || !done) return row !== undefined;
      freeChunks.run(position);
      const tenant = integer(row["tenant"]);
      writer.onCommit(() => {
        finished.add(position, now);
        backlog.add(tenant, -1);
      });
      return true;
    },
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
