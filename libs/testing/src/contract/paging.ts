/** What the two paged lists have in common: reading them page by page. */
import { type ListOrder, type PageRequest } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";

const pagesMax = 1_000;

/** All items, page by page; `between` runs after each page, to disturb. */
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
