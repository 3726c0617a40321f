import { type ListOrder, type PageRequest } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";

const pagesMax = 1_000;

/** Reads all items page by page; `between` runs after each page, to make changes. */
export async function readAll<T>(
  list: (page: PageRequest) => Promise<Page<T>>,
  limit: number,
  order: ListOrder,
  between: () => Promise<void> = () => Promise.resolve(),
): Promise<readonly T[]> {
  const items: T[] = [];
  let after: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const got = await list({ limit, order, ...(after !== undefined && { after }) });
    if (got.items.length > limit)
      throw new Error(`a page of ${got.items.length}, asked for ${limit}`);
    items.push(...got.items);
    if (got.next === undefined) return items;
    after = got.next;
    await between();
  }
  throw new Error(`a list of more than ${pagesMax} pages`);
}

/** Reads a list whose pages are bounded by bytes alone. Returns the lengths of the pages, and all items. */
export async function readByBytes<T>(
  list: (page: Omit<PageRequest, "order">) => Promise<Page<T>>,
  bytesMax: number,
): Promise<{ readonly items: readonly T[]; readonly lengths: readonly number[] }> {
  const items: T[] = [];
  const lengths: number[] = [];
  let after: string | undefined;
  for (let page = 0; page < pagesMax; page++) {
    const limit = pagesMax;
    const got = await list({ bytesMax, limit, ...(after !== undefined && { after }) });
    if (got.positions.length !== got.items.length) throw new Error("an item without its position");
    items.push(...got.items);
    lengths.push(got.items.length);
    if (got.next === undefined) return { items, lengths };
    after = got.next;
  }
  throw new Error(`a list of more than ${pagesMax} pages`);
}

/** 24 KB of headers. */
export const fatHeaders = ["a", "b", "c"].map((name) => [`X-${name}`, "v".repeat(8_000)] as const);
/** A page of this many bytes holds three items with `fatHeaders`. */
export const bytesOfThree = 60_000;
