/** One page of a list in memory, by keyset. */
import { type PageRequest } from "@posthaste/domain";
import { type Page } from "@posthaste/ports";

/** `keyOf` sorts as text, and no two items share a key. */
export function pageOf<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  { after, bytesMax, limit, order }: PageRequest,
): Page<T> {
  const isBehind = (key: string): boolean =>
    after === undefined || (order === "earliestFirst" ? key > after : key < after);
  const ascending = items
    .map((item) => ({ key: keyOf(item), item }))
    .filter(({ key }) => isBehind(key))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1));
  const sorted = order === "earliestFirst" ? ascending : ascending.toReversed();
  const page = within(sorted.slice(0, limit), bytesMax);
  const last = page.at(-1);
  return {
    items: page.map(({ item }) => item),
    positions: page.map(({ key }) => key),
    ...(sorted.length > page.length && last && { next: last.key }),
  };
}

export function within<T>(items: readonly T[], bytesMax = Infinity): readonly T[] {
  if (bytesMax === Infinity) return items;
  let bytes = 0;
  const last = items.findIndex((item) => {
    bytes += sizeOf(item);
    return bytes >= bytesMax;
  });
  return last < 0 ? items : items.slice(0, last + 1);
}

function sizeOf(item: unknown): number {
  let bytes = 0;
  const text = JSON.stringify(item, (_, value: unknown) => {
    if (!ArrayBuffer.isView(value)) return value;
    bytes += value.byteLength;
    return 0;
  });
  return bytes + text.length;
}
