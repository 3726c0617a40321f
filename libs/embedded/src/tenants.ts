/** Tenants as small numbers, so that no row repeats a name. A number is given at first use and kept for good. */
import { type DatabaseSync } from "node:sqlite";
import { type TenantId, tenantId } from "@posthaste/domain";
import { type Writer } from "./database/writer.ts";
import { integer, text } from "./database/rows.ts";

export type TenantKeys = {
  /** Returns the tenant's number, made where missing. For use inside a write. */
  take(id: TenantId): number;
  /** Returns undefined when the tenant has never stored anything. */
  find(id: TenantId): number | undefined;
  name(key: number): TenantId;
};

export function openTenantKeys(db: DatabaseSync, writer: Writer): TenantKeys {
  const keys = new Map<TenantId, number>();
  const names = new Map<number, TenantId>();
  const know = (id: TenantId, key: number): void => {
    keys.set(id, key);
    names.set(key, id);
  };
  for (const row of db.prepare("SELECT key, id FROM tenants").all())
    know(tenantId(text(row["id"])), integer(row["key"]));

  const insert = db.prepare("INSERT INTO tenants (id) VALUES (?) ON CONFLICT (id) DO NOTHING");
  const select = db.prepare("SELECT key FROM tenants WHERE id = ?");
  const selectName = db.prepare("SELECT id FROM tenants WHERE key = ?");
  return {
    take: (id) => {
      const known = keys.get(id);
      if (known !== undefined) return known;
      insert.run(id);
      const key = integer(select.get(id)?.["key"]);
      writer.onCommit(() => know(id, key));
      return key;
    },
    find: (id) => {
      const known = keys.get(id);
      if (known !== undefined) return known;
      const row = select.get(id);
      return row && integer(row["key"]);
    },
    name: (key) => names.get(key) ?? tenantId(text(selectName.get(key)?.["id"])),
  };
}
