/** URL groups: a head row that lists immutable chunks of endpoints (docs/design/record#fan-out). */
import { type Headers } from "../message/headers.ts";
import { standardUrl } from "../destination/url.ts";
import { type TenantId } from "../shared/ids.ts";

declare const brand: unique symbol;
export type GroupChunkId = string & { readonly [brand]: "GroupChunkId" };
export const groupChunkId = (text: string): GroupChunkId => text as GroupChunkId;

export type Endpoint = { readonly url: string; readonly name?: string };

export type Group = {
  readonly tenant: TenantId;
  readonly name: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The fence of a swap: raised by each. */
  readonly version: number;
  readonly chunks: readonly GroupChunkId[];
  readonly endpointCount: number;
  /** Configuration of every publish to the group that does not give its own, as the caller wrote it. */
  readonly headers?: Headers;
};

export const groupChunkMax = 500;

/** When a group counts as changed: times are whole milliseconds, and this one is after any that was read before the call. */
export const groupChangedAt = (now: number): number => now + 1;

/** The URL as it is read now, since one may have been added before the rule (ADR 130). */
const urlKey = ({ url }: Endpoint): string => `url:${standardUrl(url)}`;
const keyOf = (endpoint: Endpoint): string =>
  endpoint.name === undefined ? urlKey(endpoint) : `name:${endpoint.name}`;

/**
 * An upsert of the same key, which is the name if there is one and else the URL, replaces the endpoint in its place
 * (docs/design/wire#url-groups). Without a name, one of that URL that has a name keeps it.
 */
export function upsertEndpoints(
  current: readonly Endpoint[],
  added: readonly Endpoint[],
): readonly Endpoint[] {
  const byKey = new Map(current.map((endpoint) => [keyOf(endpoint), endpoint]));
  const named = new Set(current.filter(({ name }) => name !== undefined).map(urlKey));
  for (const endpoint of added) {
    const { name } = endpoint;
    if (name !== undefined || !named.has(urlKey(endpoint))) byKey.set(keyOf(endpoint), endpoint);
  }
  return [...byKey.values()];
}

/** Removes every endpoint that one of `selectors` names, by name or by url. */
export function removeEndpoints(
  current: readonly Endpoint[],
  selectors: readonly { readonly name?: string; readonly url?: string }[],
): readonly Endpoint[] {
  const names = new Set(selectors.flatMap(({ name }) => (name === undefined ? [] : [name])));
  const urls = new Set(
    selectors.flatMap(({ name, url }) =>
      name === undefined && url !== undefined ? [standardUrl(url)] : [],
    ),
  );
  return current.filter(
    ({ name, url }) => !(name !== undefined && names.has(name)) && !urls.has(standardUrl(url)),
  );
}
