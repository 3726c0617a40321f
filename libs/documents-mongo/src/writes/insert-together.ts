/**
 * Inserts the documents of the most frequent kinds, messages and rows of the log, in one unordered command. The
 * server's own command is used: the driver's `insertMany` measures each document before writing it, for about half of
 * the cost of the writing. The driver would also divide what one command cannot hold, 48 MiB; callers here give far
 * less.
 */
import { type Collection, type Db, type Document, WriteConcern } from "mongodb";
import { isDuplicate, isPassing } from "../link/failures.ts";

type WriteError = { readonly index: number; readonly code: number; readonly errmsg?: string };
type Reply = { readonly writeErrors?: readonly WriteError[] };

/** Returns the places of documents whose `_id` was there already. Throws any other failure, of one document or of all. */
export async function insertTogether<T extends Document>(
  db: Db,
  { collectionName }: Collection<T>,
  documents: readonly T[],
): Promise<ReadonlySet<number>> {
  if (documents.length === 0) return new Set();
  const command = { insert: collectionName, documents, ordered: false };
  if (db.writeConcern) WriteConcern.apply(command, db.writeConcern);
  const { writeErrors = [] }: Reply = await db.command(command, { ignoreUndefined: true });
  const others = writeErrors.filter((error) => !isDuplicate(error));
  const failure = others.find(isPassing) ?? others[0];
  if (failure)
    throw Object.assign(new Error(failure.errmsg), { ...failure, name: "MongoServerError" });
  return new Set(writeErrors.map(({ index }) => index));
}
