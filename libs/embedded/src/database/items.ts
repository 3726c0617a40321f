/**
 * Items: schedules and bulk actions, as JSON beside their alarm, which has a column of its own, so that a ring moves it without
 * reading the rest.
 */
import { type DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import { type TenantId } from "@posthaste/domain";
import { type Log, type Rung } from "@posthaste/ports";
import { type Alarms, openAlarms } from "./alarms.ts";
import { integer, optionalInteger, type Row, stored, text } from "./rows.ts";

type Item = { readonly wakeAt?: number };

export function jsonOf<T extends Item>({ wakeAt: _, ...item }: T) {
  const json = JSON.stringify(item);
  return { json, crc: crc32(json) };
}

export const itemColumns = "json, crc, wake_at";

export function itemFrom<T extends Item>(row: Row): T {
  const json = text(row["json"]);
  if (crc32(json) !== integer(row["crc"])) throw new Error("a stored item is damaged");
  const wakeAt = optionalInteger(row["wake_at"] ?? null);
  return { ...stored<T>(json), ...(wakeAt !== undefined && { wakeAt }) };
}

/** Opens the alarms of a table of items. `kind` names a damaged item in the log. */
export const openItemAlarms = <T extends Item>(
  db: DatabaseSync,
  log: Log,
  [table, kind]: readonly [table: string, kind: string],
  rung: (item: T) => Rung,
): Alarms =>
  openAlarms(db, {
    table,
    key: "key",
    columns: `id, ${itemColumns}`,
    read: (row) => rung(itemFrom(row)),
    damaged: (row, error) => log.error("store.damaged", { [kind]: text(row["id"]), error }),
  });

type PageByAge = {
  readonly after?: { readonly createdAt: number; readonly id: string };
  readonly limit: number;
  readonly bytesMax?: number;
};

/** Lists items of a tenant by age and id, up to the one with which they reach `bytesMax` bytes. */
export function openListByAge<T extends Item>(
  db: DatabaseSync,
  from: string,
  direction: "" | "DESC",
): (tenant: TenantId, page: PageByAge) => readonly T[] {
  const page = (behind: string) =>
    db.prepare(`
      SELECT ${itemColumns} FROM ${from} AND tenant = ? ${behind}
      ORDER BY created_at ${direction}, id ${direction} LIMIT ?`);
  const first = page("");
  const following = page(`AND (created_at, id) ${direction === "DESC" ? "<" : ">"} (?, ?)`);
  return (tenant, { after, limit, bytesMax = Infinity }) => {
    const rows = after
      ? following.iterate(tenant, after.createdAt, after.id, limit)
      : first.iterate(tenant, limit);
    const items: T[] = [];
    let bytes = 0;
    for (const row of rows) {
      items.push(itemFrom(row));
      bytes += text(row["json"]).length;
      if (bytes >= bytesMax) break;
    }
    return items;
  };
}
