/** Pages by keyset: a position survives whatever is inserted or removed around it. */
import { type MessageFilter, type PageRequest, type TenantId } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";
import { type Collection, type Document } from "mongodb";
import { type Again } from "../retry.ts";
import { type Placed, placesIn } from "./placed.ts";

/** A page is short rather than larger than this; a single item may be larger. */
const bytesPerPageMax = 32 * 1024 * 1024;

export type Scan<Item> = {
  readonly tenant: TenantId;
  readonly filter: Pick<MessageFilter, "from" | "to">;
  /** What the filter asks beside the times. */
  readonly conditions: Document;
  /** What there is of bodies in it: all else is bounded by the page's limit. */
  readonly bytesOf: (item: Item) => number;
};

/** Reads one row further than the page, so that `next` is absent on the last one. */
export function readPage<Item>(
  again: Again,
  rows: Collection<Placed<Item>>,
  { tenant, filter, conditions, bytesOf }: Scan<Item>,
  page: PageRequest,
): Promise<Page<Item>> {
  const range = placesIn(filter, page);
  const wanted: Document = { tenant, ...(range && { place: range }), ...conditions };
  return again(async () => {
    const cursor = rows
      .find(wanted)
      .sort({ place: page.order === "earliestFirst" ? 1 : -1 })
      .limit(page.limit + 1);
    const items: Item[] = [];
    let bytes = 0;
    let next: string | undefined;
    // Bounded by the cursor's limit.
    for await (const { item, place } of cursor) {
      bytes += bytesOf(item);
      const isFull = items.length === page.limit || (bytes > bytesPerPageMax && items.length > 0);
      if (isFull) return next === undefined ? { items } : { items, next };
      items.push(item);
      next = place;
    }
    return { items };
  });
}
