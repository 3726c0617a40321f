/**
 * Pages by keyset: a position stays valid whatever is inserted or removed around it. Nothing else runs while rows are
 * read, so a list reads few at a time and lets other work run in between. A page is short rather than slow or large.
 */
import { limits, type PageRequest, type Configuration } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";

/** Bounds of one turn: index rows, and bytes read for them. */
const rowsPerChunk = 250;
const bytesPerTurnMax = 1024 * 1024;
/** Rows per turn for which more than the index was read. */
const readsPerTurnMax = 25;
/** Bounds of one page in rows, and in rows for which more than the index was read: about a tenth of a second (ADR 197). */
const rowsPerPageMax = 20_000;
const readsPerPageMax = 3_000;
/** A page holds bodies up to the bytes of one reading, and one item more. */
const bytesPerPageMax = 32 * 1024 * 1024;

export type Scan<Row, Item> = {
  /**
   * Returns up to about `limit` rows after `after`, in order; from the beginning when `after` is undefined. A chunk
   * may be empty without being the last, when the next row is not known yet.
   */
  readonly rows: (after: string | undefined, limit: number) => Chunk<Row>;
  readonly keyOf: (row: Row) => string;
  /** Returns no item for a row that the filter does not want. */
  readonly look: (row: Row) => Looked<Item>;
  /** Lets other work run. */
  readonly breathe: () => Promise<void>;
};

export type Chunk<Row> = { readonly rows: readonly Row[]; readonly isLast: boolean };

/** `bytes`: read to decide, and for the item. `held`: of the item's bodies, if those may be large. `size`: of the whole item. */
export type Looked<Item> = {
  readonly item?: Item;
  readonly bytes: number;
  readonly held?: number;
  readonly size?: number;
};

/** Reads one match more than the page, so that `next` is absent on the last page. */
export async function readPage<Row, Item>(
  scan: Scan<Row, Item>,
  request: PageRequest,
): Promise<Page<Item>> {
  const { limit, bytesMax = Infinity } = request;
  const items: Item[] = [];
  const positions: string[] = [];
  const ended = (next: string | undefined): Page<Item> =>
    next === undefined ? { items, positions } : { items, positions, next };
  let after = request.after;
  let sizeOfItems = 0;
  let bytesOfPage = 0;
  let bytesOfItems = 0;
  let bytesOfTurn = 0;
  let readsOfTurn = 0;
  let readsOfPage = 0;
  for (let read = 0; read < rowsPerPageMax;) {
    const { rows, isLast } = scan.rows(after, rowsPerChunk);
    for (const row of rows) {
      if (bytesOfTurn >= bytesPerTurnMax || readsOfTurn >= readsPerTurnMax) {
        await scan.breathe();
        bytesOfTurn = 0;
        readsOfTurn = 0;
      }
      const isFull =
        readsOfPage >= readsPerPageMax ||
        bytesOfPage >= bytesPerPageMax ||
        bytesOfItems >= limits.readBytesMax ||
        sizeOfItems >= bytesMax;
      if (isFull) return ended(after);
      const { item, bytes, held = 0, size = bytes } = scan.look(row);
      bytesOfTurn += bytes;
      if (bytes > 0) {
        readsOfTurn += 1;
        readsOfPage += 1;
      }
      bytesOfPage += bytes;
      after = scan.keyOf(row);
      if (item === undefined) continue;
      if (items.length === limit) return ended(positions.at(-1) ?? request.after);
      items.push(item);
      positions.push(after);
      bytesOfItems += held;
      sizeOfItems += size;
    }
    if (isLast) return ended(undefined);
    read += Math.max(1, rows.length);
    await scan.breathe();
    bytesOfTurn = 0;
    readsOfTurn = 0;
  }
  return ended(after);
}

const readsPerPiece = 10;

/** Reads many keys in pieces, so that other work runs between two of them. Returns a reading of the values for `keys`, one piece a call. It returns all values, or undefined while more are left to read. */
export function inPieces<Key, Found>(
  keys: readonly Key[],
  read: (key: Key) => Found,
): () => readonly Found[] | undefined {
  const found: Found[] = [];
  return () => {
    for (const key of keys.slice(found.length, found.length + readsPerPiece)) found.push(read(key));
    return found.length < keys.length ? undefined : found;
  };
}

/** The next byte shows whether a cut falls inside a character. */
const furtherBytes = 1;

/** A body that is shown as its hash is read whole, unless nothing is shown. */
export function bodyBytesShown(
  { bodyBytesMax }: PageRequest,
  { policy }: Pick<Configuration, "policy">,
): number {
  if (bodyBytesMax === 0) return 0;
  if (bodyBytesMax === undefined || policy.redaction?.body) return Number.MAX_SAFE_INTEGER;
  return bodyBytesMax + furtherBytes;
}
