/** One page of a list in memory, by keyset. */
import { type PageRequest } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";

/** `keyOf` sorts as text, and no two items share one. */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { after, limit, order }: PageRequest,
): Page<T> {
  const isBehind = (key: string): boolean =>
    after === undefined || (order === "earliestFirst" ? key > after : key < after);
  const ascending = items
    .map((item) => ({ key: keyOf(item), item }))
    .filter(({ key }) => isBehind(key))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const sorted = order === "earliestFirst" ? ascending : ascending.toReversed();
  const page = sorted.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map(({ item }) => item),
    ...(sorted.length > limit && last && { next: last.key }),
  };
}
