/** The bounds of a portion. One item always fits. */
export type PortionBounds = { readonly bytesMax: number; readonly countMax?: number };

/** Returns the first of `items`, as many as the bounds allow. */
export function portionOf<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  { bytesMax, countMax = Infinity }: PortionBounds,
): readonly T[] {
  let bytes = 0;
  const end = items.findIndex((item, n) => {
    bytes += bytesOf(item);
    return n > 0 && (n >= countMax || bytes > bytesMax);
  });
  return end < 0 ? items : items.slice(0, end);
}

export function* portionsOf<T>(
  items: readonly T[],
  bytesOf: (item: T) => number,
  bounds: PortionBounds,
): Generator<readonly T[]> {
  for (let left = items; left.length > 0;) {
    const portion = portionOf(left, bytesOf, bounds);
    yield portion;
    left = left.slice(portion.length);
  }
}
