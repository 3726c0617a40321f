/** What is done to all that a filter takes: counted first, then done in calls of so many, and no more than was counted. */

export type Counted = { readonly matched: number; readonly cursor: string | undefined };
export type Done = { readonly done: number; readonly cursor: string | undefined };

/** A call takes no more. */
export const perCallMax = 100;

/** A call counts what it would take itself: their sum is what there is. */
export async function countAll(
  count: (cursor: string | undefined) => Promise<Counted>,
  told: (matched: number) => void,
): Promise<number> {
  let matched = 0;
  let cursor: string | undefined;
  do {
    const page = await count(cursor);
    matched += page.matched;
    cursor = page.cursor;
    told(matched);
  } while (cursor !== undefined && cursor !== "");
  return matched;
}

/** What fails again meanwhile matches once more: it is not taken, since `matched` are enough. */
export async function takeAll(
  matched: number,
  take: (count: number, cursor: string | undefined) => Promise<Done>,
  told: (done: number) => void,
): Promise<number> {
  let done = 0;
  let cursor: string | undefined;
  while (done < matched) {
    const page = await take(Math.min(perCallMax, matched - done), cursor);
    done += page.done;
    told(done);
    cursor = page.cursor;
    if (cursor === undefined || cursor === "" || page.done === 0) break;
  }
  return done;
}
