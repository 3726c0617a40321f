import { expect } from "@jest/globals";
import { type SearchIndex, type SearchIndexes } from "@posthaste/ports";
import { aTenant } from "../builders/message.ts";
import { epochStart } from "../virtual-clock.ts";
import { type Closable, contract } from "./guarantee.ts";

export type SearchIndexesHarness = Closable & { readonly indexes: SearchIndexes };

const racersCount = 10;

export function describeSearchIndexes(
  name: string,
  open: () => Promise<SearchIndexesHarness>,
): void {
  contract(`${name}: search indexes`, open, {}, (it) => {
    it("a new installation has no indexes", async ({ indexes }) => {
      expect(await indexes.list()).toEqual([]);
      expect(await indexes.get("first")).toBeUndefined();
    });

    it("indexes are read back as they were added, oldest first", async ({ indexes }) => {
      const younger = anIndex("a", { createdAt: epochStart + 1 });
      const elder = anIndex("b", {
        type: "payg",
        region: "us-central1",
        partnerEmail: "partner@example.com",
        inputEnrichment: true,
        throughput: [
          { at: epochStart, value: 0 },
          { at: epochStart + 60_000, value: 12.5 },
        ],
      });
      const twin = anIndex("c");
      for (const index of [younger, twin, elder]) await indexes.add(index);

      expect(await indexes.list()).toEqual([elder, twin, younger]);
      expect(await indexes.page({ after: undefined, limit: 2 })).toEqual([elder, twin]);
      expect(await indexes.page({ after: elder, limit: 5 })).toEqual([twin, younger]);
      expect(await indexes.page({ after: younger, limit: 5 })).toEqual([]);
      expect(await indexes.get("b")).toEqual(elder);
    });

    it("an insert of an existing index leaves it unchanged", async ({ indexes }) => {
      await indexes.add(anIndex("a"));

      await indexes.add(anIndex("a", { name: "other" }));

      expect(await indexes.list()).toEqual([anIndex("a")]);
    });

    it("a change of an index is stored and returned", async ({ indexes }) => {
      const tokens = { full: "new", readOnly: "new, too" };
      await indexes.add(anIndex("a"));
      await indexes.add(anIndex("b"));

      const answered = await indexes.change("a", (index) => ({ ...index, tokens }));

      expect(answered).toEqual(anIndex("a", { tokens }));
      expect(await indexes.list()).toEqual([anIndex("a", { tokens }), anIndex("b")]);
      expect(await indexes.change("c", (index) => index)).toBeUndefined();
    });

    it("ten changes of one index at once are all kept", async ({ indexes }) => {
      await indexes.add(anIndex("a"));
      const sampled = (n: number) =>
        indexes.change("a", (index) => ({
          ...index,
          throughput: [...index.throughput, { at: epochStart, value: n }],
        }));

      await Promise.all(Array.from({ length: racersCount }, (_, n) => sampled(n)));

      const values = (await indexes.get("a"))?.throughput.map(({ value }) => value) ?? [];
      expect(values.toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    });

    it("a removed index no longer exists, and the others stay", async ({ indexes }) => {
      await indexes.add(anIndex("a"));
      await indexes.add(anIndex("b"));

      await indexes.remove("a");
      await indexes.remove("a");

      expect(await indexes.get("a")).toBeUndefined();
      expect(await indexes.list()).toEqual([anIndex("b")]);
    });
  });
}

const anIndex = (id: string, overrides: Partial<SearchIndex> = {}): SearchIndex => ({
  id,
  owner: aTenant,
  name: "articles",
  endpoint: "https://search.example",
  type: "free",
  region: "eu-west-1",
  partnerEmail: "",
  tokens: { full: "full token", readOnly: "read-only token" },
  limits: {
    vectorsMax: 2_000_000_000,
    monthlyReranksMax: -1,
    dailyUpdatesMax: -1,
    dailyQueriesMax: 10_000,
    monthlyBandwidthBytesMax: 200 * 1024 ** 3,
    writesPerSecondMax: 1_000,
    queriesPerSecondMax: 1_000,
    readsPerRequestMax: 1_000,
    writesPerRequestMax: 1_000,
  },
  inputEnrichment: false,
  createdAt: epochStart,
  throughput: [],
  ...overrides,
});
