import { type DatabaseSync } from "node:sqlite";
import { tenantId } from "@posthaste/domain";
import { type Accounts, type Tenant, type TokenScope } from "@posthaste/ports";
import { optionalText, stored, text } from "./database/rows.ts";
import { type Writer } from "./database/writer.ts";
import { type TenantKeys } from "./tenants.ts";

export function openAccounts(db: DatabaseSync, writer: Writer, keys: TenantKeys): Accounts {
  const tenants = db.prepare("SELECT json FROM tenants WHERE json IS NOT NULL ORDER BY key");
  const tokens = db.prepare("SELECT hash, tenant, scope FROM tokens ORDER BY hash");
  const putTenant = db.prepare("UPDATE tenants SET json = ? WHERE key = ?");
  const putToken = db.prepare(`
    INSERT INTO tokens (hash, tenant, scope) VALUES (?, ?, ?)
    ON CONFLICT (hash) DO UPDATE SET tenant = excluded.tenant, scope = excluded.scope`);
  const findSecret = db.prepare("SELECT value FROM secrets WHERE name = ?");
  const putSecret = db.prepare("INSERT INTO secrets (name, value) VALUES (?, ?)");
  return {
    tenants: () => writer.read(() => tenants.all().map((row) => stored<Tenant>(text(row["json"])))),
    tokens: () =>
      writer.read(() =>
        tokens.all().map((row) => ({
          hash: text(row["hash"]),
          tenant: tenantId(text(row["tenant"])),
          scope: scopeFrom(text(row["scope"])),
        })),
      ),
    putTenant: (tenant) =>
      writer.write(() => void putTenant.run(JSON.stringify(tenant), keys.take(tenant.id))),
    putToken: ({ hash, tenant, scope }) =>
      writer.write(() => void putToken.run(hash, tenant, scope)),
    secret: (name, make) =>
      writer.write(() => {
        const known = optionalText(findSecret.get(name)?.["value"] ?? null);
        if (known !== undefined) return known;
        const value = make();
        putSecret.run(name, value);
        return value;
      }),
  };
}

/** What is not known to be full is read-only. */
const scopeFrom = (scope: string): TokenScope => (scope === "full" ? "full" : "read");
