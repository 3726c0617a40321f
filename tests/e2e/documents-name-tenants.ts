/**
 * Checks that each document names its tenant, or the message or run that does, so that a tenant can be moved to another
 * database (ADR 192). Runs when the suites have made documents of every collection.
 */
import { MongoClient } from "mongodb";

/** Collections of the whole installation, and `tenants`, whose keys are the tenants. */
const shared = new Set([
  "account_changes",
  "beats",
  "meta",
  "roster",
  "run_walks",
  "search_indexes",
  "secrets",
  "tenants",
]);
/** A tombstone keeps an id and ends within a day. A change by an operator may concern no tenant. */
const nameless = {
  tenant: { $exists: false },
  record: { $exists: false },
  run: { $exists: false },
  tombstoneUntil: { $exists: false },
  "by.kind": { $ne: "operator" },
};

/** Rejects with the collections in which a document names no tenant, and the fields of that document. */
export async function checkDocumentsNameTenants(uri: string, database: string): Promise<void> {
  const client = new MongoClient(uri);
  try {
    const db = client.db(database);
    const collections = await db.listCollections({}, { nameOnly: true }).toArray();
    const found: string[] = [];
    for (const { name } of collections.filter((one) => !shared.has(one.name))) {
      const document = await db.collection(name).findOne(nameless);
      if (document) found.push(`${name} (${Object.keys(document).join(", ")})`);
    }
    if (found.length > 0) throw new Error(`documents without a tenant: ${found.join("; ")}`);
  } finally {
    await client.close();
  }
}
