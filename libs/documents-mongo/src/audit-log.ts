/** The AuditLog port: a document for each entry, keyed by its id. */
import { type AuditEntry, type AuditLog } from "@posthaste/ports";
import { type Connection } from "./connection.ts";
import { type Index } from "./indexes.ts";
import { removeSome } from "./query/ids-of.ts";

const auditLogName = "audit_log";

export const auditLogIndexes: readonly Index[] = [
  { collection: auditLogName, key: { tenant: 1, _id: -1 }, is: "needed" },
  { collection: auditLogName, key: { expiresAt: 1 }, is: "needed" },
];

type StoredEntry = Omit<AuditEntry, "id"> & { readonly _id: string };

/** More than one, so that the collection shrinks while entries are added. */
const removedPerEntryMax = 10;

export function createAuditLog({ again, collection }: Connection): AuditLog {
  const entries = collection<StoredEntry>(auditLogName);
  const put = async ({ id, ...entry }: AuditEntry): Promise<void> => {
    await again(() => entries.replaceOne({ _id: id }, entry, { upsert: true }));
  };
  return {
    begin: async (entry) => {
      await put(entry);
      const expired = { expiresAt: { $lte: entry.at } };
      await removeSome(again, entries, expired, { limit: removedPerEntryMax });
    },
    end: put,
    page: async ({ tenant, before, limit, now }) => {
      const asked = {
        ...(tenant !== undefined && { tenant }),
        ...(before !== undefined && { _id: { $lt: before } }),
        expiresAt: { $gt: now },
      };
      const found = await again(() => entries.find(asked).sort({ _id: -1 }).limit(limit).toArray());
      return found.map(({ _id, ...entry }) => ({ id: _id, ...entry }));
    },
  };
}
