/** Documents that are read together. */
import { BSON, type Document, type FindCursor } from "mongodb";
import { type TenantId } from "@posthaste/domain";
import { type Heavy } from "../connection.ts";

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

type Aged = { readonly tenant: TenantId; readonly createdAt: number; readonly id: string };
type PageByAge = {
  readonly after?: Omit<Aged, "tenant">;
  readonly limit: number;
  readonly bytesMax?: number;
};

/** Lists documents of a tenant that match `filter` by age and id, the oldest first if `direction` is 1, without their bodies. */
export async function listByAge<T extends Document & Aged>(
  heavy: Heavy,
  name: string,
  filter: Document & Pick<Aged, "tenant">,
  { after, limit, bytesMax = Infinity }: PageByAge,
  direction: 1 | -1,
): Promise<readonly T[]> {
  const side = direction === 1 ? "$gt" : "$lt";
  const behind = after && {
    createdAt: { [`${side}e`]: after.createdAt },
    $or: [
      { createdAt: { [side]: after.createdAt } },
      { createdAt: after.createdAt, id: { [side]: after.id } },
    ],
  };
  const { documents } = await heavy.again(filter.tenant)(() =>
    documentsWithin(
      heavy
        .collection<Document>(name)
        .find<T>({ ...filter, ...behind }, { projection: { body: 0 } })
        .sort({ createdAt: direction, id: direction })
        .limit(limit)
        .maxTimeMS(heavy.msMax),
      bytesMax,
    ),
  );
  return documents;
}
