/** The Accounts port: tenants, tokens and secrets, each a row found by its key. */
import { type DatabaseSync } from "node:sqlite";
import { completePlan, isFault, type TenantId, tenantId, tokenScopeFrom } from "@posthaste/domain";
import {
  type Accounts,
  changesOf,
  noChangedAccounts,
  type Tenant,
  type Token,
  withChanged,
  type TenantAccounts,
  type TokenAccounts,
  type SecretAccounts,
} from "@posthaste/ports";
import { erasing } from "./database/erase.ts";
import { optionalInteger, optionalText, type Row, stored, text } from "./database/rows.ts";
import { type Writer } from "./database/writer.ts";
import { type TenantKeys } from "./tenants.ts";

/** Notes that a tenant or one of its tokens has changed. For use inside a write. */
type Changed = (tenant: TenantId) => void;

/** Changes are kept in memory only: the store has one process, which reads all accounts at its start. */
export function openAccounts(db: DatabaseSync, writer: Writer, keys: TenantKeys): Accounts {
  let recent = noChangedAccounts;
  const changed: Changed = (tenant) =>
    writer.onCommit(() => {
      recent = withChanged(recent, tenant);
    });
  return {
    ...openTenants(db, writer, keys, changed),
    ...openTokens(db, writer, changed),
    ...openSecrets(db, writer),
    changedSince: (mark) =>
      writer.read(() => ({
        mark: { version: recent.version },
        tenants: changesOf(recent, mark?.version),
      })),
  };
}

/** Opens the tenants. A row without JSON only numbers a tenant that has messages here but no account. */
function openTenants(
  db: DatabaseSync,
  writer: Writer,
  keys: TenantKeys,
  changed: Changed,
): TenantAccounts {
  const all = db.prepare("SELECT json FROM tenants WHERE json IS NOT NULL ORDER BY key");
  const page = db.prepare(
    "SELECT json FROM tenants WHERE id > ? AND json IS NOT NULL ORDER BY id LIMIT ?",
  );
  const find = db.prepare("SELECT json FROM tenants WHERE id = ?");
  const put = db.prepare("UPDATE tenants SET json = ? WHERE key = ?");
  const jsonOf = (id: TenantId) => optionalText(find.get(id)?.["json"] ?? null);
  return {
    tenants: () => writer.read(() => all.all().map((row) => tenantFrom(text(row["json"])))),
    tenant: (id) =>
      writer.read(() => {
        const json = jsonOf(id);
        return json === undefined ? undefined : tenantFrom(json);
      }),
    tenantPage: ({ after, limit }) =>
      writer.read(() => page.all(after, limit).map((row) => tenantFrom(text(row["json"])))),
    addTenant: (tenant) =>
      writer.write(() => {
        if (jsonOf(tenant.id) !== undefined) return false;
        put.run(JSON.stringify(tenant), keys.take(tenant.id));
        changed(tenant.id);
        return true;
      }, "accepted"),
    changeTenant: (id, change) =>
      writer.write(() => {
        const json = jsonOf(id);
        if (json === undefined) return undefined;
        const tenant = change(tenantFrom(json));
        if (isFault(tenant)) return tenant;
        erasing(db, () => put.run(JSON.stringify(tenant), keys.take(id)));
        changed(id);
        return tenant;
      }, "accepted"),
  };
}

function tenantFrom(json: string): Tenant {
  const tenant = stored<Tenant>(json);
  return { ...tenant, plan: completePlan(tenant.plan) };
}

function openTokens(db: DatabaseSync, writer: Writer, changed: Changed): TokenAccounts {
  const select = "SELECT hash, tenant, scope, name, created_at, expires_at, used_at FROM tokens";
  const all = db.prepare(`${select} ORDER BY hash`);
  const own = db.prepare(`${select} WHERE tenant = ? ORDER BY hash`);
  const page = db.prepare(`${select} WHERE hash > ? ORDER BY hash LIMIT ?`);
  const find = db.prepare(`${select} WHERE hash = ?`);
  const put = db.prepare(`
    INSERT OR REPLACE INTO tokens (hash, tenant, scope, name, created_at, expires_at, used_at)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const use = db.prepare(
    "UPDATE tokens SET used_at = ?2 WHERE hash = ?1 AND (used_at IS NULL OR used_at < ?2)",
  );
  const remove = db.prepare("DELETE FROM tokens WHERE hash = ?");
  const tokenBy = (hash: string): Token | undefined => {
    const row = find.get(hash);
    return row && tokenOf(row);
  };
  return {
    tokens: () => writer.read(() => all.all().map(tokenOf)),
    token: (hash) => writer.read(() => tokenBy(hash)),
    tokenPage: ({ after, limit }) => writer.read(() => page.all(after, limit).map(tokenOf)),
    tokensOf: (tenant) => writer.read(() => own.all(tenant).map(tokenOf)),
    putToken: ({ hash, tenant, scope, name, createdAt, expiresAt, usedAt }) =>
      writer.write(() => {
        const times = [createdAt ?? null, expiresAt ?? null, usedAt ?? null] as const;
        put.run(hash, tenant, scope, name ?? null, ...times);
        changed(tenant);
      }, "accepted"),
    removeToken: (hash) =>
      writer.write(() => {
        const token = tokenBy(hash);
        if (!token) return;
        remove.run(hash);
        changed(token.tenant);
      }, "accepted"),
    noteUses: (hashes, at) =>
      writer.write(() => {
        for (const hash of hashes) use.run(hash, at);
      }, "accepted"),
  };
}

function tokenOf(row: Row): Token {
  const name = optionalText(row["name"] ?? null);
  const createdAt = optionalInteger(row["created_at"]);
  const expiresAt = optionalInteger(row["expires_at"]);
  const usedAt = optionalInteger(row["used_at"]);
  return {
    hash: text(row["hash"]),
    tenant: tenantId(text(row["tenant"])),
    scope: tokenScopeFrom(text(row["scope"])),
    ...(name !== undefined && { name }),
    ...(createdAt !== undefined && { createdAt }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(usedAt !== undefined && { usedAt }),
  };
}

function openSecrets(db: DatabaseSync, writer: Writer): SecretAccounts {
  const find = db.prepare("SELECT value FROM secrets WHERE name = ?");
  const put = db.prepare("INSERT OR REPLACE INTO secrets (name, value) VALUES (?, ?)");
  const valueOf = (name: string) => optionalText(find.get(name)?.["value"] ?? null);
  return {
    secret: (name, make) =>
      writer.write(() => {
        const known = valueOf(name);
        if (known !== undefined) return known;
        const value = make();
        put.run(name, value);
        return value;
      }, "accepted"),
    changeSecret: (name, change) =>
      writer.write(() => {
        const known = valueOf(name);
        if (known !== undefined) erasing(db, () => put.run(name, change(known)));
      }, "accepted"),
  };
}
