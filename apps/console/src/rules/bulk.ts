/** Acts on everything that a filter matches: finds first, then acts in bounded calls, only on the things found. */

export type PageOf<T> = { readonly items: readonly T[]; readonly cursor: string | undefined };

export const perCallMax = 100;

/** Things that belong together, counted before the action. */
export type GroupOfThings = {
  readonly place: string;
  readonly reason?: string;
  readonly count: number;
};

/** Groups by place, the largest group first. */
export const placesOf =
  <T>(placeOf: (thing: T) => string) =>
  (things: readonly T[]): readonly GroupOfThings[] =>
    [...Map.groupBy(things, placeOf)]
      .map(([place, { length: count }]) => ({ place, count }))
      .toSorted((a, b) => b.count - a.count);

export type Walk<T> = {
  readonly found: readonly T[];
  readonly looked: number;
  /** The start of the next look. Undefined when all pages were read. */
  readonly cursor: string | undefined;
};

type Bounds = { readonly pages: number; readonly found: number };

/** Reads a list page by page for the items that `takes` accepts, up to the bounds. */
export async function walk<T>(
  list: (cursor: string | undefined) => Promise<PageOf<T>>,
  takes: (item: T) => boolean,
  most: Bounds,
  { from, told }: { readonly from?: string; readonly told?: (walk: Walk<T>) => void } = {},
): Promise<Walk<T>> {
  const found: T[] = [];
  let looked = 0;
  let cursor = from;
  for (let pages = 0; pages < most.pages && found.length < most.found; pages += 1) {
    const page = await list(cursor);
    found.push(...page.items.filter(takes));
    looked += page.items.length;
    cursor = page.cursor === "" ? undefined : page.cursor;
    told?.({ found, looked, cursor });
    if (cursor === undefined) break;
  }
  return { found, looked, cursor };
}

/** Skips items that were removed meanwhile. An item that fails again has another id, so nothing is done twice. */
export async function takeAll(
  ids: readonly string[],
  perCall: number,
  take: (ids: readonly string[]) => Promise<number>,
  told: (done: number) => void,
): Promise<number> {
  let done = 0;
  for (let at = 0; at < ids.length; at += perCall) {
    done += await take(ids.slice(at, at + perCall));
    told(done);
  }
  return done;
}
