/** URL groups in memory: a head that names immutable chunks. */
import {
  type Endpoint,
  type Group,
  groupChunkId,
  type GroupChunkId,
  groupChunkMax,
  groupChangedAt,
  limits,
  cutOff,
} from "@posthaste/domain";
import { type Groups } from "@posthaste/ports";

/** `isInUse` reports whether a parent that is not expanded refers to the chunk. */
export function modelGroups(now: () => number, isInUse: (chunk: GroupChunkId) => boolean): Groups {
  const groups = new Map<string, Group>();
  const chunks = new Map<GroupChunkId, readonly Endpoint[]>();
  const retiredAt = new Map<GroupChunkId, number>();
  let versions = 0;

  const of = (tenant: string): readonly Group[] =>
    [...groups.values()].filter((group) => group.tenant === tenant);
  const write = (key: string, endpoints: readonly Endpoint[]): readonly GroupChunkId[] => {
    const ids: GroupChunkId[] = [];
    for (let at = 0; at < endpoints.length; at += groupChunkMax) {
      const id = groupChunkId(`${key} ${versions} ${at}`);
      chunks.set(id, endpoints.slice(at, at + groupChunkMax));
      ids.push(id);
    }
    return ids;
  };
  const retire = (group: Group | undefined): void => {
    for (const id of group?.chunks ?? []) retiredAt.set(id, now());
  };

  return {
    get: async (tenant, name) => groups.get(keyOf(tenant, name)),
    list: async (tenant, { after, limit }) =>
      of(tenant)
        .filter(({ name }) => name > after)
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .slice(0, limit),
    count: async (tenant, countMax) => Math.min(countMax, of(tenant).length),
    endpoints: async (_tenant, ids) =>
      ids.flatMap((id) => {
        const endpoints = chunks.get(id);
        if (!endpoints) throw new Error(`the chunk ${id} of a group is missing`);
        return endpoints;
      }),
    replace: async (tenant, name, version, endpoints) => {
      const key = keyOf(tenant, name);
      const current = groups.get(key);
      if (current?.version !== version) return false;
      versions += 1;
      retire(current);
      groups.set(key, {
        ...(current?.headers && { headers: current.headers }),
        tenant,
        name,
        createdAt: current?.createdAt ?? groupChangedAt(now()),
        updatedAt: groupChangedAt(now()),
        version: versions,
        chunks: write(key, endpoints),
        endpointCount: endpoints.length,
      });
      return true;
    },
    configure: async (tenant, name, headers) => {
      const key = keyOf(tenant, name);
      const current = groups.get(key);
      if (!current) return false;
      const { headers: _, ...bare } = current;
      const updatedAt = groupChangedAt(now());
      groups.set(key, { ...bare, updatedAt, ...(headers.length > 0 && { headers }) });
      return true;
    },
    remove: async (tenant, name, version) => {
      const key = keyOf(tenant, name);
      const current = groups.get(key);
      if (!current || (version !== undefined && current.version !== version)) return;
      retire(current);
      groups.delete(key);
    },
    sweep: async (limit) => {
      const gone = [...retiredAt]
        .filter(([id, at]) => at <= cutOff(limits.replacedChunkKeptMs, now()) && !isInUse(id))
        .slice(0, limit);
      for (const [id] of gone) {
        chunks.delete(id);
        retiredAt.delete(id);
      }
      return gone.length;
    },
  };
}

const keyOf = (tenant: string, name: string): string => `${tenant} ${name}`;
