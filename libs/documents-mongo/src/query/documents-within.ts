/** Documents that are read together. */
import { BSON, type Document, type FindCursor } from "mongodb";

/** The usual page and one document more. A reply is held whole: with tens of kilobytes of headers each, a few mebibytes. */
export const documentsPerReply = 101;

/** Returns the first documents of `cursor`, up to the one that brings them to `bytesMax` bytes. `isCut`: a further one follows. */
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
