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
  /** The fence of a swap; every swap raises it. */
  readonly version: number;
  readonly chunks: readonly GroupChunkId[];
  readonly endpointCount: number;
  /** Headers that configure a publish to the group where the publish gives none of its own, as the caller wrote them. */
  readonly headers?: Headers;
};

export const groupChunkMax = 500;

/** Returns the time of a change. Times are whole milliseconds, so adding one gives a time after any that was read before the call. */
export const groupChangedAt = (now: number): number => now + 1;

/** Uses the URL as `standardUrl` writes it, since the endpoint may have been added before that rule (ADR 130). */
const urlKey = ({ url }: Endpoint): string => `url:${standardUrl(url)}`;
const keyOf = (endpoint: Endpoint): string =>
  endpoint.name === undefined ? urlKey(endpoint) : `name:${endpoint.name}`;

/**
 * Adds endpoints. An endpoint with the key of a current one, its name or otherwise its URL, replaces that one in its
 * place (docs/design/wire#url-groups). An added endpoint without a name is left out if a named one has its URL.
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

/** Removes every endpoint that one of `selectors` names, by name or by URL. */
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
