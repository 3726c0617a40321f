/** The store of search indexes: the owner of each, the endpoint that serves it, and its limits. Management writes and reads it. */
import { type SearchIndexRegion, type SearchIndexType, type TenantId } from "@posthaste/domain";

/** Counts and bytes; -1 means unlimited, if docs/design/wire#search-indexes allows it. */
export type SearchIndexLimits = {
  readonly vectorsMax: number;
  readonly monthlyReranksMax: number;
  readonly dailyUpdatesMax: number;
  readonly dailyQueriesMax: number;
  readonly monthlyBandwidthBytesMax: number;
  readonly writesPerSecondMax: number;
  readonly queriesPerSecondMax: number;
  readonly readsPerRequestMax: number;
  readonly writesPerRequestMax: number;
};

/** `at`: Unix milliseconds. */
type ThroughputSample = { readonly at: number; readonly value: number };

export type SearchIndex = {
  /** A UUID. */
  readonly id: string;
  readonly owner: TenantId;
  readonly name: string;
  readonly endpoint: string;
  readonly type: SearchIndexType;
  readonly region: SearchIndexRegion;
  /** Empty when there is no partner. */
  readonly partnerEmail: string;
  /** Stored in plain text, since they are shown again and again. */
  readonly tokens: { readonly full: string; readonly readOnly: string };
  readonly limits: SearchIndexLimits;
  readonly inputEnrichment: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Oldest first. */
  readonly throughput: readonly ThroughputSample[];
};

export interface SearchIndexes {
  /** Returns all indexes, oldest first. */
  list(): Promise<readonly SearchIndex[]>;
  /** Returns a page of that list, after `after`. */
  page(page: {
    readonly after: Pick<SearchIndex, "createdAt" | "id"> | undefined;
    readonly limit: number;
  }): Promise<readonly SearchIndex[]>;
  get(id: string): Promise<SearchIndex | undefined>;
  /** Adds an index; adding the same id again changes nothing. */
  add(index: SearchIndex): Promise<void>;
  /** Changes an index as `Accounts.changeTenant` changes a tenant. Returns undefined when there is no such index. */
  change(id: string, change: (index: SearchIndex) => SearchIndex): Promise<SearchIndex | undefined>;
  remove(id: string): Promise<void>;
}

const indexesPerPageMax = 50;

/** Yields all indexes page by page, for work that looks at each and holds none. */
export async function* indexPages(
  indexes: Pick<SearchIndexes, "page">,
): AsyncGenerator<readonly SearchIndex[]> {
  let after: SearchIndex | undefined;
  // Each page begins after the last one, so the loop ends with the indexes.
  for (;;) {
    const page = await indexes.page({ after, limit: indexesPerPageMax });
    after = page.at(-1);
    if (!after) return;
    yield page;
  }
}
