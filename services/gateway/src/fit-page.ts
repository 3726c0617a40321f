/** Ends a page of a list by the size of its text. */
import { limits } from "@posthaste/domain";
import { yieldToOthers } from "@posthaste/http";
import { type Page } from "@posthaste/ports";

export type FittedPage<Json> = {
  readonly shown: readonly Json[];
  /** The position at which the list continues. */
  readonly next: string | undefined;
};

type Options = {
  readonly atOnce?: number;
  /** Reports whether the bytes read to show the items have reached their bound. */
  readonly isSpent?: () => boolean;
  readonly charsMax?: number;
};

const atOnceDefault = 4;
/** The characters made before other requests have their turn. */
const charsPerTurnMax = 128 * 1024;

/**
 * Returns the texts of the first items of a page, up to the item with which they reach `charsMax` characters, and at
 * least one. `show` turns some items at a time into JSON; undefined leaves an item out.
 */
export async function fitPage<T, Json extends object>(
  { items, positions, next }: Page<T>,
  show: (
    some: readonly T[],
  ) => readonly (Json | undefined)[] | Promise<readonly (Json | undefined)[]>,
  { atOnce = atOnceDefault, charsMax = limits.pageBytesMax, isSpent = () => false }: Options = {},
): Promise<FittedPage<Json>> {
  const shown: Json[] = [];
  let chars = 0;
  let charsOfTurn = 0;
  // Bounded by the page's items, and by their texts.
  for (let from = 0; from < items.length; from += atOnce) {
    if (from > 0 && isSpent()) return { shown, next: positions[from - 1] };
    if (charsOfTurn >= charsPerTurnMax) {
      await yieldToOthers();
      charsOfTurn = 0;
    }
    const some = await show(items.slice(from, from + atOnce));
    for (const [i, json] of some.entries()) {
      if (chars >= charsMax) return { shown, next: positions[from + i - 1] };
      if (json === undefined) continue;
      shown.push(json);
      const { length } = JSON.stringify(json);
      chars += length;
      charsOfTurn += length;
    }
  }
  return { shown, next };
}
