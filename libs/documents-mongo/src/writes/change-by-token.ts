/** Reads, changes and writes a document as one step; the document names the write that made it. */
import { type Fault, isFault } from "@posthaste/domain";
import { type Random, StoreError } from "@posthaste/ports";

export type Marked<T> = { readonly item: T; readonly write: string };

export type ChangeSteps<T> = {
  readonly find: () => Promise<Marked<T> | undefined>;
  /** Writes `next` if the document is still as the write `seen` left it. Resolves to false otherwise. */
  readonly swap: (seen: string, next: Marked<T>) => Promise<boolean>;
  readonly random: Random;
};

/** Each failed try means that another change succeeded, so a caller gives up only after this many. */
const triesMax = 50;
const writeLength = 20;

export const newWrite = (random: Random): string => random.text(writeLength);

/** Resolves to undefined if there is no such document. A fault returned by `change` changes nothing. */
export async function changeByToken<T, F extends Fault>(
  { find, swap, random }: ChangeSteps<T>,
  change: (item: T) => T | F,
): Promise<T | F | undefined> {
  for (let tries = 0; tries < triesMax; tries++) {
    const seen = await find();
    if (!seen) return undefined;
    const item = change(seen.item);
    if (isFault(item)) return item;
    const write = newWrite(random);
    if (await swap(seen.write, { item, write })) return item;
    // If the reply to a write that held was lost, its repetition matched nothing.
    if ((await find())?.write === write) return item;
  }
  throw new StoreError("overloaded", "too many calls change the same document at once");
}
