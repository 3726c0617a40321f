export const searchIndexTypes = ["free", "payg", "fixed"] as const;
export type SearchIndexType = (typeof searchIndexTypes)[number];
export const searchIndexRegions = ["eu-west-1", "us-central1"] as const;
export type SearchIndexRegion = (typeof searchIndexRegions)[number];
