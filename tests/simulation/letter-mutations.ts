/** Planted bugs about retried dead letters and batches, see mutations.ts. */
import { type Mutation, withPort } from "./mutate.ts";

export const letterMutations: readonly Mutation[] = [
  {
    name: "a retried letter under the id of its retry",
    shownBy: "deadLetters",
    change: (ports) =>
      withPort(ports, "ids", { positionAt: () => ports.ids.positionAt(ports.clock.now()) }),
  },
  {
    name: "a letter that goes before its message is made",
    shownBy: "deadLetters",
    change: (ports) =>
      withPort(ports, "deadLetters", {
        list: async (tenant, filter, page) => {
          const found = await ports.deadLetters.list(tenant, filter, page);
          // Letters that are read whole and by their ids are about to be retried.
          if (filter.ids && page.bodyBytesMax === undefined)
            await ports.deadLetters.remove(
              tenant,
              found.items.map(({ id }) => id),
            );
          return found;
        },
      }),
  },
  {
    name: "a batch of which the end is said and not stored",
    shownBy: "deadLetters",
    change: (ports) =>
      withPort(ports, "records", {
        insert: async (inserts, intake) => {
          const stored = inserts.slice(0, Math.ceil(inserts.length / 2));
          await ports.records.insert(stored, intake);
          return inserts.map(() => "inserted");
        },
      }),
  },
  {
    name: "a batch stored in another order",
    shownBy: "deadLetters",
    change: (ports) =>
      withPort(ports, "records", {
        insert: async (inserts, intake) =>
          (await ports.records.insert(inserts.toReversed(), intake)).toReversed(),
      }),
  },
];
