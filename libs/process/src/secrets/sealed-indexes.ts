/** Search indexes whose tokens are sealed in the store. */
import { type SearchIndex, type SearchIndexes } from "@posthaste/ports";
import { type Open, openedLately } from "./opened-lately.ts";
import { type Sealer } from "./sealer.ts";

export function sealIndexes(indexes: SearchIndexes, sealer: Sealer): SearchIndexes {
  const { seal } = sealer;
  const open = openedLately(sealer);
  const found = (stored: SearchIndex | undefined) => stored && opened(stored, open);
  return {
    list: async () => (await indexes.list()).map((stored) => opened(stored, open)),
    page: async (page) => (await indexes.page(page)).map((stored) => opened(stored, open)),
    get: async (id) => found(await indexes.get(id)),
    add: (index) => indexes.add(sealed(index, seal)),
    change: async (id, change) =>
      found(await indexes.change(id, (stored) => sealed(change(opened(stored, open)), seal))),
    remove: (id) => indexes.remove(id),
  };
}

const opened = (index: SearchIndex, open: Open): SearchIndex => ({
  ...index,
  tokens: open(index.tokens, (name) =>
    name === "full" ? placeOfToken(index.id) : placeOfReadOnly(index.id),
  ),
});

const sealed = ({ tokens, ...index }: SearchIndex, seal: Sealer["seal"]): SearchIndex => ({
  ...index,
  tokens: {
    full: seal(tokens.full, placeOfToken(index.id)),
    readOnly: seal(tokens.readOnly, placeOfReadOnly(index.id)),
  },
});

const placeOfToken = (id: string): string => `the token of the index ${id}`;
const placeOfReadOnly = (id: string): string => `the read-only token of the index ${id}`;
