/**
 * The Groups port: a head that lists immutable chunks (docs/design/record#fan-out).
 *
 * (1) a chunk is in the store before a head lists it, and a head is swapped by one write conditional on its version.
 * (2) a chunk is removed only after a look, at its time or later, that found no head to list it and no unexpanded fan-out to
 *     refer to it. Every chunk has such a time, so chunks that a crash leaves behind are found and removed.
 */
import { groupChangedAt, type GroupChunkId, limits } from "@posthaste/domain";
import { type Groups } from "@posthaste/ports";
import { type Connection } from "../connection.ts";
import { type Index } from "../indexes.ts";
import { chunkIndexes, createChunks } from "./chunks.ts";
import { createHeads, headIndexes } from "./heads.ts";

export const groupIndexes: readonly Index[] = [...headIndexes, ...chunkIndexes];

export type Referred = (chunks: readonly GroupChunkId[]) => Promise<ReadonlySet<GroupChunkId>>;

/** Longer than any writer may pause between its chunks and its head. */
const listedLookMs = 86_400_000;
const chunksPerLookMax = 200;

export function createGroups(connection: Connection, referred: Referred): Groups {
  const { clock } = connection;
  const heads = createHeads(connection);
  const chunks = createChunks(connection);
  const lookSoon = (ids: readonly GroupChunkId[]): Promise<void> =>
    chunks.lookAt(clock.now() + limits.replacedChunkKeptMs, ids);

  return {
    get: heads.find,
    list: heads.list,
    count: heads.count,
    endpoints: chunks.read,
    replace: async (tenant, name, version, endpoints) => {
      const current = await heads.find(tenant, name);
      if (current?.version !== version) return false;
      const made = await chunks.write(tenant, endpoints, clock.now() + listedLookMs);
      // Before the swap: after a crash between the two, the look finds these chunks in their head and is repeated in a day.
      if (current) await lookSoon(current.chunks);
      const changedAt = groupChangedAt(clock.now());
      const next = {
        tenant,
        name,
        createdAt: current?.createdAt ?? changedAt,
        updatedAt: changedAt,
        version: (version ?? changedAt) + 1,
        chunks: made,
        endpointCount: endpoints.length,
      };
      const isSwapped = await heads.swap(next, version);
      if (!isSwapped) await lookSoon(made);
      return isSwapped;
    },
    configure: (tenant, name, headers) =>
      heads.configure(tenant, name, headers, groupChangedAt(clock.now())),
    remove: async (tenant, name, version) => {
      const head = await heads.find(tenant, name);
      if (!head) return;
      if (version === undefined || version === head.version) await lookSoon(head.chunks);
      await heads.remove(tenant, name, version);
    },
    sweep: async (limit) => {
      let swept = 0;
      // Ends when no chunk is due, or after `limit` looks. Each look removes its chunk or moves the chunk to a later time.
      for (let looked = 0; looked < limit;) {
        const now = clock.now();
        const ids = await chunks.due(now, Math.min(limit - looked, chunksPerLookMax));
        if (ids.length === 0) break;
        swept += await look(ids, now);
        looked += ids.length;
      }
      return swept;
    },
  };

  async function look(ids: readonly GroupChunkId[], now: number): Promise<number> {
    const [listed, expanding] = [await heads.listed(ids), await referred(ids)];
    const isUnwanted = (id: GroupChunkId): boolean => !listed.has(id) && !expanding.has(id);
    await chunks.postpone([...listed], now, now + listedLookMs);
    await chunks.postpone([...expanding], now, now + limits.replacedChunkKeptMs);
    const unwanted = ids.filter(isUnwanted);
    await chunks.remove(unwanted);
    return unwanted.length;
  }
}
