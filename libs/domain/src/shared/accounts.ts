/** Names of management: scopes of tokens, and types and regions of search indexes. */

export const tokenScopes = ["full", "read"] as const;
export type TokenScope = (typeof tokenScopes)[number];
/** Returns the scope that `text` names. A scope of a newer build is read as the least, `read`. */
export const tokenScopeFrom = (text: string): TokenScope =>
  tokenScopes.find((scope) => scope === text) ?? "read";

export const searchIndexTypes = ["free", "payg", "fixed"] as const;
export type SearchIndexType = (typeof searchIndexTypes)[number];
export const searchIndexRegions = ["eu-west-1", "us-central1"] as const;
export type SearchIndexRegion = (typeof searchIndexRegions)[number];
