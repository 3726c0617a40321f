/** Search indexes whose tokens the store sees sealed only. */
import { type SearchIndex, type SearchIndexes } from "@posthaste/ports";
import { type Sealer } from "./sealer.ts";

/** The same indexes, opened. */
export function sealIndexes(indexes: SearchIndexes, { open, seal }: Sealer): SearchIndexes {
  const opened = (stored: SearchIndex | undefined) => stored && withTokens(stored, open);
  return {
    list: async () => (await indexes.list()).map((stored) => withTokens(stored, open)),
    page: async (page) => (await indexes.page(page)).map((stored) => withTokens(stored, open)),
    get: async (id) => opened(await indexes.get(id)),
    add: (index) => indexes.add(withTokens(index, seal)),
    change: async (id, change) =>
      opened(
        await indexes.change(id, (stored) => withTokens(change(withTokens(stored, open)), seal)),
      ),
    remove: (id) => indexes.remove(id),
  };
}

const withTokens = (
  index: SearchIndex,
  turn: (text: string, place: string) => string,
): SearchIndex => ({
  ...index,
  tokens: {
    full: turn(index.tokens.full, `the token of the index ${index.id}`),
    readOnly: turn(index.tokens.readOnly, `the read-only token of the index ${index.id}`),
  },
});
