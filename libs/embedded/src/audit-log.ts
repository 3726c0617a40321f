/**
 * The AuditLog port. The writer commits in the order of the calls, so the entry of a change is in the same commit as the change
 * or in an earlier one, and no change waits for its entry.
 */
import { type DatabaseSync } from "node:sqlite";
import { type AuditEntry, type AuditLog } from "@posthaste/ports";
import { type Row, stored, text } from "./database/rows.ts";
import { type Writer } from "./database/writer.ts";

/** More than one, so that the table shrinks while entries are added. */
const removedPerEntryMax = 10;

export function openAuditLog(db: DatabaseSync, writer: Writer): AuditLog {
  const put = db.prepare(
    "INSERT OR REPLACE INTO audit_log (id, tenant, expires_at, json) VALUES (?, ?, ?, ?)",
  );
  const removeExpired = db.prepare(`
    DELETE FROM audit_log WHERE id IN
      (SELECT id FROM audit_log WHERE expires_at <= ? ORDER BY expires_at LIMIT ?)`);
  const all = db.prepare(`
    SELECT json FROM audit_log WHERE id < ? AND expires_at > ? ORDER BY id DESC LIMIT ?`);
  const own = db.prepare(`
    SELECT json FROM audit_log WHERE tenant = ? AND id < ? AND expires_at > ? ORDER BY id DESC LIMIT ?`);
  const write = (entry: AuditEntry) =>
    put.run(entry.id, entry.tenant ?? null, entry.expiresAt, JSON.stringify(entry));
  return {
    begin: async (entry) => {
      const begun = writer.write(() => {
        removeExpired.run(entry.at, removedPerEntryMax);
        write(entry);
      }, "accepted");
      // On a full disk a change that frees space is made without its entry; its end writes the whole entry.
      begun.catch(() => undefined);
    },
    end: (entry) => writer.write(() => void write(entry), "accepted"),
    page: ({ tenant, before = afterAll, limit, now }) =>
      writer.read(() => {
        const rows =
          tenant === undefined ? all.all(before, now, limit) : own.all(tenant, before, now, limit);
        return rows.map(entryOf);
      }),
  };
}

/** Sorts after every id. */
const afterAll = "~";

const entryOf = (row: Row): AuditEntry => stored<AuditEntry>(text(row["json"]));
