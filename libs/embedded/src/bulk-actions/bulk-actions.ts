/**
 * The BulkActions port: one row per action, which moves with each step (docs/design/bulk). Column `same` is the hash of the action's work
 * while it is under way.
 */
import { hash } from "node:crypto";
import { type DatabaseSync } from "node:sqlite";
import { type BulkAction, bulkWorkText } from "@posthaste/domain";
import { type BulkActions, type Log } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { type Writer } from "../database/writer.ts";
import { isKnownFormat } from "../messages/records.ts";
import { itemFrom, jsonOf, openItemAlarms, openListByAge, itemColumns } from "../database/items.ts";
import { type Alarms } from "../database/alarms.ts";

export function openBulkActions(db: DatabaseSync, writer: Writer): BulkActions {
  const list = openListByAge<BulkAction>(db, `bulk_actions WHERE ${isKnownFormat}`, "DESC");
  const one = db.prepare(
    `SELECT ${itemColumns} FROM bulk_actions WHERE tenant = ? AND id = ? AND ${isKnownFormat}`,
  );
  const add = openAdd(db);
  const moveOne = db.prepare(`
    UPDATE bulk_actions SET version = ?, wake_at = ?, ended_at = ?, same = iif(? IS NULL, same, NULL), crc = ?, json = ?
    WHERE id = ? AND version = ?`);
  const remove = db.prepare(`
    DELETE FROM bulk_actions WHERE key IN (
      SELECT key FROM bulk_actions WHERE ended_at < ? ORDER BY ended_at LIMIT ?)`);

  const move = (action: BulkAction): boolean => {
    const { id, version, wakeAt = null, completedAt = null } = action;
    const { json, crc } = jsonOf(action);
    const { changes } = moveOne.run(
      ...[version, wakeAt, completedAt, completedAt, crc, json, id, version - 1],
    );
    return changes === 1;
  };

  return {
    add: (action, underWayMax) => writer.write(() => add(action, underWayMax), "accepted"),
    move: (action) => writer.write(() => move(action), "redoable"),
    get: (tenant, id) =>
      writer.read(() => {
        const row = one.get(tenant, id);
        return row && itemFrom<BulkAction>(row);
      }),
    list: (tenant, page) => writer.read(() => list(tenant, page)),
    removeEnded: (endedBefore, limit) =>
      writer.write(() => void remove.run(endedBefore, limit), "redoable"),
  };
}

function openAdd(db: DatabaseSync): (action: BulkAction, max: number) => BulkAction | "full" {
  const equal = db.prepare(`SELECT ${itemColumns} FROM bulk_actions WHERE tenant = ? AND same = ?`);
  const count = db.prepare(
    "SELECT count(*) AS n FROM bulk_actions WHERE tenant = ? AND same IS NOT NULL",
  );
  const insert = db.prepare(`
    INSERT INTO bulk_actions (tenant, id, shard, format, created_at, version, wake_at, same, crc, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  return (action, underWayMax) => {
    const { tenant, id, shard, format = 1, createdAt, version, wakeAt = null, work } = action;
    const same = hash("sha256", bulkWorkText(work));
    const known = equal.get(tenant, same);
    if (known) return itemFrom(known);
    if (integer(count.get(tenant)?.["n"]) >= underWayMax) return "full";
    const { json, crc } = jsonOf(action);
    insert.run(tenant, id, shard, format, createdAt, version, wakeAt, same, crc, json);
    return action;
  };
}

export const openBulkAlarms = (db: DatabaseSync, log: Log): Alarms =>
  openItemAlarms<BulkAction>(db, log, ["bulk_actions", "bulkAction"], (action) => ({
    kind: "bulkAction",
    action,
  }));
