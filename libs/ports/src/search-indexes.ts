/** The books on search indexes: which tenant owns which, where it is served and how much it may do. Written and read by management. */
import { type SearchIndexRegion, type SearchIndexType, type TenantId } from "@posthaste/domain";

/** Counts and bytes; -1 is unlimited, where docs/design/wire#search-indexes allows it. */
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
export type ThroughputSample = { readonly at: number; readonly value: number };

export type SearchIndex = {
  /** A UUID. */
  readonly id: string;
  readonly owner: TenantId;
  readonly name: string;
  readonly endpoint: string;
  readonly type: SearchIndexType;
  readonly region: SearchIndexRegion;
  /** Empty: there is no partner. */
  readonly partnerEmail: string;
  /** Shown again and again, so they cannot be kept as hashes. */
  readonly tokens: { readonly full: string; readonly readOnly: string };
  readonly limits: SearchIndexLimits;
  readonly inputEnrichment: boolean;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Oldest first. */
  readonly throughput: readonly ThroughputSample[];
};

export interface SearchIndexes {
  /** All of them, oldest first. */
  list(): Promise<readonly SearchIndex[]>;
  /** Of that list, from behind `after`. */
  page(page: {
    readonly after: Pick<SearchIndex, "createdAt" | "id"> | undefined;
    readonly limit: number;
  }): Promise<readonly SearchIndex[]>;
  get(id: string): Promise<SearchIndex | undefined>;
  /** Adding the same id again changes nothing. */
  add(index: SearchIndex): Promise<void>;
  /** As `Accounts.changeTenant`. Undefined: no such index. */
  change(id: string, change: (index: SearchIndex) => SearchIndex): Promise<SearchIndex | undefined>;
  remove(id: string): Promise<void>;
}

const indexesPerPageMax = 50;

/** For work that looks at each and holds none of them. */
export async function* indexPages(
  indexes: Pick<SearchIndexes, "page">,
): AsyncGenerator<readonly SearchIndex[]> {
  let after: SearchIndex | undefined;
  // Each page begins behind the last, so this ends with the indexes.
  for (;;) {
    const page = await indexes.page({ after, limit: indexesPerPageMax });
    after = page.at(-1);
    if (!after) return;
    yield page;
  }
}
