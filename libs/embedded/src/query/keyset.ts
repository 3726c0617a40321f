/** Pages by keyset: a position survives whatever is inserted or removed around it. */
import { type PageRequest } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";

/** One list call reads at most so many rows, in chunks between which others get their turn; then its page is short. */
const rowsPerChunk = 500;
const rowsPerPageMax = 100_000;

export type Scan<Row, Item> = {
  /** The next rows behind `after` (undefined: from the beginning), in order. */
  readonly rows: (after: string | undefined, limit: number) => readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Undefined: the filter does not want it. */
  readonly itemOf: (row: Row) => Item | undefined;
  /** Lets others run between chunks. */
  readonly breathe: () => Promise<void>;
};

/** Reads one match further than the page, so that `next` is absent on the last one. */
export async function readPage<Row, Item>(
  scan: Scan<Row, Item>,
  request: PageRequest,
): Promise<Page<Item>> {
  const items: Item[] = [];
  let after = request.after;
  let lastKept = after;
  for (let read = 0; read < rowsPerPageMax;) {
    const rows = scan.rows(after, rowsPerChunk);
    for (const row of rows) {
      after = scan.keyOf(row);
      const item = scan.itemOf(row);
      if (item === undefined) continue;
      if (items.length === request.limit) return withNext(items, lastKept);
      items.push(item);
      lastKept = after;
    }
    if (rows.length < rowsPerChunk) return { items };
    read += rows.length;
    await scan.breathe();
  }
  return withNext(items, after);
}

const withNext = <Item>(items: readonly Item[], next: string | undefined): Page<Item> =>
  next === undefined ? { items } : { items, next };
