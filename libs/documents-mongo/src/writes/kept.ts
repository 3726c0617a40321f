/** Items that are stored whole, one document each, found by `_id`, and changed by reading, changing and writing as one step. */
import { type Fault } from "@posthaste/domain";
import { type Filter, type OptionalUnlessRequiredId } from "mongodb";
import { changeByToken, type Marked, newWrite } from "./change-by-token.ts";
import { type Connection } from "../connection.ts";
import { insertMissing } from "./insert-missing.ts";

/** Item and mark are below one field, so that a write replaces both at once. */
type KeptDocument<T> = { readonly _id: string; readonly now: Marked<T> };

export type Kept<T> = {
  readonly all: () => Promise<readonly T[]>;
  readonly page: (page: {
    readonly after: string;
    readonly limit: number;
  }) => Promise<readonly T[]>;
  readonly get: (id: string) => Promise<T | undefined>;
  /** Resolves to false, and changes nothing, if the id is there already. */
  readonly add: (id: string, item: T) => Promise<boolean>;
  /** Resolves to undefined if there is no such item. A fault returned by `to` leaves the item as it is. */
  readonly change: <F extends Fault>(
    id: string,
    to: (item: T) => T | F,
  ) => Promise<T | F | undefined>;
  readonly remove: (id: string) => Promise<void>;
};

export function openKept<T>({ again, collection, random }: Connection, name: string): Kept<T> {
  const kept = collection<KeptDocument<T>>(name);
  const withId = (_id: string) => ({ _id }) as Filter<KeptDocument<T>>;
  const find = async (id: string) => (await again(() => kept.findOne(withId(id))))?.now;

  return {
    all: async () => (await again(() => kept.find().toArray())).map(({ now }) => now.item),
    page: async ({ after, limit }) => {
      const behind = { _id: { $gt: after } } as Filter<KeptDocument<T>>;
      const found = await again(() => kept.find(behind).sort({ _id: 1 }).limit(limit).toArray());
      return found.map(({ now }) => now.item);
    },
    get: async (id) => (await find(id))?.item,
    add: async (_id, item) => {
      const now = { item, write: newWrite(random) };
      const document = { _id, now } as OptionalUnlessRequiredId<KeptDocument<T>>;
      const known = await insertMissing(again, kept, [document]);
      return known.size === 0 || (await find(_id))?.write === now.write;
    },
    change: <F extends Fault>(id: string, to: (item: T) => T | F) =>
      changeByToken<T, F>(
        {
          random,
          find: () => find(id),
          swap: async (write, now) => {
            const seen = { ...withId(id), "now.write": write };
            const swapped = await again(() => kept.updateOne(seen, { $set: { now } }));
            return swapped.matchedCount > 0;
          },
        },
        to,
      ),
    remove: async (id) => {
      await again(() => kept.deleteOne(withId(id)));
    },
  };
}
