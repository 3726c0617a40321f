/** Documents that are read together. */
import { BSON, type Document, type FindCursor } from "mongodb";

/** The usual page and one document. A reply is held whole: with tens of kilobytes of headers in each document, a few mebibytes. */
export const documentsPerReply = 101;

/** Resolves to the first documents of `cursor`, up to the one with which they reach `bytesMax` bytes. `isCut`: another one follows. */
export async function documentsWithin<T extends Document>(
  cursor: FindCursor<T>,
  bytesMax: number,
): Promise<{ readonly documents: readonly T[]; readonly isCut: boolean }> {
  const documents: T[] = [];
  let bytes = 0;
  // Bounded by the cursor's limit.
  for await (const document of cursor.batchSize(documentsPerReply)) {
    if (bytes >= bytesMax) return { documents, isCut: true };
    documents.push(document);
    bytes += sizeOf(document);
  }
  return { documents, isCut: false };
}

export const sizeOf = (document: Document): number => BSON.calculateObjectSize(document);
