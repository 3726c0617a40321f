/** Pages by keyset: a position stays valid whatever is inserted or removed around it. */
import { limits, type MessageFilter, type PageRequest, type TenantId } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";
import { type Collection, type Document, type FindCursor } from "mongodb";
import { type Heavy } from "../connection.ts";
import { isTooLong } from "../link/failures.ts";
import { documentsPerReply, sizeOf } from "./documents-within.ts";
import { type Placed, placesIn } from "./placed.ts";

export type Scan<Item> = {
  readonly tenant: TenantId;
  readonly filter: Pick<MessageFilter, "from" | "to">;
  /** The filter's conditions, without the times. */
  readonly conditions: Document;
  /** Whether the conditions name ids, or one term: then an index finds the rows without looking at others. */
  readonly isById: boolean;
  /** Returns the bytes of the item's bodies. All else is bounded by the page's limit. */
  readonly bytesOf: (item: Item) => number;
  /** The fields of bodies, which are not read if none is shown. */
  readonly bodyFields: readonly string[];
  readonly cut: (item: Item, bodyBytesMax: number) => Item;
  /** Set if the rows are parts of other documents. */
  readonly within?: Within<Item>;
};

/** How rows are found in documents that hold more. `fields`: the fields that a row is made from. */
export type Within<Item> = {
  readonly place: `${string}.place`;
  readonly fields: Readonly<Record<string, 1>>;
  readonly rowFrom: (document: Document) => Placed<Item>;
};

type Asked = Pick<Scan<unknown>, "tenant" | "filter" | "conditions" | "isById"> & {
  readonly within?: Pick<Within<unknown>, "place">;
};

/**
 * The bounds that make a page short rather than slow or large: the rows looked at, and the bytes read and held. A
 * single item may be larger.
 */
export type PageBounds = { readonly rows: number; readonly bytes: number; readonly held: number };

const bytesMax = 32 * 1024 * 1024;
const pageBounds: PageBounds = { rows: 10_000, bytes: bytesMax, held: bytesMax };
/** For items that may be large, so that a few readers hold little together. */
export const largeBounds: PageBounds = { ...pageBounds, held: limits.readBytesMax };

export function readPage<Item>(
  heavy: Pick<Heavy, "again" | "msMax">,
  rows: Collection<Placed<Item>>,
  scan: Scan<Item>,
  page: PageRequest,
  bounds = pageBounds,
): Promise<Page<Item>> {
  const { bytesMax = Infinity } = page;
  const hasBodies = page.bodyBytesMax !== 0;
  const readOf = async (rowsMax: number): Promise<Page<Item>> => {
    const end = isSelective(scan) ? await placeOfLast(heavy, rows, scan, page, rowsMax) : undefined;
    const items: Item[] = [];
    const positions: string[] = [];
    const ended = (next: string | undefined): Page<Item> =>
      next === undefined ? { items, positions } : { items, positions, next };
    let bytes = 0;
    let held = 0;
    let size = 0;
    // Bounded by the cursor's limit.
    for await (const { item, place } of pageCursor(rows, scan, page, end).maxTimeMS(heavy.msMax)) {
      const shown = cutPage(scan, page, item);
      if (hasBodies) {
        bytes += scan.bytesOf(item);
        held += scan.bytesOf(shown);
      }
      const isMuch = bytes > bounds.bytes || held > bounds.held || size >= bytesMax;
      if (items.length === page.limit || (isMuch && items.length > 0))
        return ended(positions.at(-1));
      items.push(shown);
      positions.push(place);
      if (bytesMax < Infinity) size += sizeOf({ shown });
    }
    return ended(end);
  };
  return heavy.again(scan.tenant)(() => shorter(readOf, bounds.rows));
}

/** Reads fewer rows if the server did not manage that many in its time. */
async function shorter<T>(read: (rows: number) => Promise<T>, rows: number): Promise<T> {
  for (let most = rows; ; most = Math.ceil(most / fewerBy))
    try {
      return await read(most);
    } catch (error) {
      if (!isTooLong(error) || most < rowsMin) throw error;
    }
}

const fewerBy = 10;
const rowsMin = 100;

export const cutPage = <Item>(
  { cut }: Pick<Scan<Item>, "cut">,
  { bodyBytesMax }: Pick<PageRequest, "bodyBytesMax">,
  item: Item,
): Item => (bodyBytesMax === undefined || bodyBytesMax === 0 ? item : cut(item, bodyBytesMax));

/** Reads rows from the documents that a cursor finds. */
export const shownAs = <Item>(
  cursor: FindCursor<Placed<Item>>,
  { within }: Pick<Scan<Item>, "within">,
): FindCursor<Placed<Item>> =>
  within ? cursor.project(within.fields).map(within.rowFrom) : cursor;

function withoutBodies<Item>(
  cursor: FindCursor<Placed<Item>>,
  { bodyFields }: Scan<Item>,
  { bodyBytesMax }: PageRequest,
): FindCursor<Placed<Item>> {
  if (bodyBytesMax !== 0 || bodyFields.length === 0) return cursor;
  return cursor.project<Placed<Item>>(Object.fromEntries(bodyFields.map((field) => [field, 0])));
}

export function pageCursor<Item>(
  rows: Collection<Placed<Item>>,
  scan: Scan<Item>,
  page: PageRequest,
  end?: string,
): FindCursor<Placed<Item>> {
  const side = page.order === "earliestFirst" ? "$lte" : "$gte";
  const range = { ...placesIn(scan.filter, page), ...(end !== undefined && { [side]: end }) };
  const cursor = sorted(rows, { ...placed(scan, range), ...scan.conditions }, page, scan);
  return shownAs(withoutBodies(cursor, scan, page), scan)
    .limit(page.limit + 1)
    .batchSize(documentsPerReply);
}

/** Resolves to undefined if there are fewer than `rowsMax` rows. An index alone answers. */
async function placeOfLast<Item>(
  { msMax }: Pick<Heavy, "msMax">,
  rows: Collection<Placed<Item>>,
  scan: Asked,
  page: PageRequest,
  rowsMax: number,
): Promise<string | undefined> {
  const all = placed(scan, placesIn(scan.filter, page));
  const [last] = await sorted(rows, all, page, scan)
    .project({ [placeIn(scan)]: 1, _id: 0 })
    .skip(rowsMax - 1)
    .limit(1)
    .maxTimeMS(msMax)
    .toArray();
  return last && placeOfDocument(scan, last);
}

const placeIn = ({ within }: Asked): string => within?.place ?? "place";

const placeOfDocument = (scan: Asked, document: Document): string =>
  placeIn(scan)
    .split(".")
    .reduce<unknown>((part, name) => (part as Document)[name], document) as string;

const isSelective = ({ conditions, isById }: Asked): boolean =>
  !isById && Object.keys(conditions).length > 0;

/** Returns the condition on places. For rows within other documents it demands that the place exists, as the partial index requires. */
function placed(asked: Asked, range: object): Document {
  const { tenant, within } = asked;
  const place = within ? { ...range, $exists: true } : range;
  return { tenant, ...(Object.keys(place).length > 0 && { [placeIn(asked)]: place }) };
}

const sorted = <Item>(
  rows: Collection<Placed<Item>>,
  wanted: Document,
  { order }: PageRequest,
  scan: Asked,
): FindCursor<Placed<Item>> =>
  rows.find<Placed<Item>>(wanted).sort({ [placeIn(scan)]: order === "earliestFirst" ? 1 : -1 });
