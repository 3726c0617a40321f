/** Returns the time since when the tenant's due messages have been waiting, read along their index, up to `limits.dueSinceRowsMax` rows. */
import { type DatabaseSync } from "node:sqlite";
import { dueSince, limits } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { type TenantKeys } from "../tenants.ts";
import { stateCodes } from "./records.ts";

export function openDueSince(reader: DatabaseSync, tenants: TenantKeys): Records["dueSince"] {
  const due = reader.prepare(`
    SELECT hints, wake_at FROM messages INDEXED BY messages_due
    WHERE tenant = ? AND state = ${stateCodes.due} AND until IS NULL AND wake_at IS NOT NULL LIMIT ${limits.dueSinceRowsMax}`);
  return async (tenantId) => {
    const tenant = tenants.find(tenantId);
    if (tenant === undefined) return undefined;
    const times = due
      .all(tenant)
      .map((row) => dueSince(integer(row["hints"]), integer(row["wake_at"])));
    return times.length > 0 ? Math.min(...times) : undefined;
  };
}
