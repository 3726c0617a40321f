/** The chunks of groups: each has at most 500 endpoints, never changes, and has a time at which to check whether a head still lists it. */
import {
  type Endpoint,
  type GroupChunkId,
  groupChunkId,
  groupChunkMax,
  type TenantId,
} from "@posthaste/domain";
import { type Filter } from "mongodb";
import { type Connection } from "../connection.ts";
import { type Index } from "../indexes.ts";
import { insertMissing } from "../writes/insert-missing.ts";
import { idsOf } from "../query/ids-of.ts";

const collection = "group_chunks";

export const chunkIndexes: readonly Index[] = [{ collection, key: { lookAt: 1 }, is: "needed" }];

type Chunk = {
  readonly _id: GroupChunkId;
  readonly tenant: TenantId;
  readonly endpoints: readonly Endpoint[];
  readonly lookAt: number;
};

export type Chunks = {
  readonly write: (
    tenant: TenantId,
    endpoints: readonly Endpoint[],
    lookAt: number,
  ) => Promise<readonly GroupChunkId[]>;
  /** Resolves to the endpoints in the order of `ids`. Rejects when a chunk is missing. */
  readonly read: (tenant: TenantId, ids: readonly GroupChunkId[]) => Promise<readonly Endpoint[]>;
  readonly lookAt: (time: number, ids: readonly GroupChunkId[]) => Promise<void>;
  readonly due: (now: number, limit: number) => Promise<readonly GroupChunkId[]>;
  /** Moves the look to `time` for chunks that are still due at `now`. A chunk that was replaced meanwhile keeps its new time. */
  readonly postpone: (ids: readonly GroupChunkId[], now: number, time: number) => Promise<void>;
  readonly remove: (ids: readonly GroupChunkId[]) => Promise<void>;
};

const idLength = 20;

export function createChunks({ again, collection: open, random }: Connection): Chunks {
  const chunks = open<Chunk>(collection);

  return {
    write: async (tenant, endpoints, lookAt) => {
      const count = Math.ceil(endpoints.length / groupChunkMax);
      const made = Array.from({ length: count }, (_, i) => ({
        _id: groupChunkId(random.text(idLength)),
        tenant,
        endpoints: endpoints.slice(i * groupChunkMax, (i + 1) * groupChunkMax),
        lookAt,
      }));
      await insertMissing(again, chunks, made);
      return made.map(({ _id }) => _id);
    },
    read: async (tenant, ids) => {
      const found = await again(() => chunks.find({ _id: { $in: [...ids] }, tenant }).toArray());
      const byId = new Map(found.map((chunk) => [chunk._id, chunk.endpoints]));
      return ids.flatMap((id) => {
        const endpoints = byId.get(id);
        if (!endpoints) throw new Error(`the chunk ${id} of a group is missing`);
        return endpoints;
      });
    },
    lookAt: (time, ids) => setLook({ _id: { $in: [...ids] } }, time),
    due: (now, limit) =>
      idsOf(again, chunks, { lookAt: { $lte: now } }, { sort: { lookAt: 1 }, limit }),
    postpone: (ids, now, time) => setLook({ _id: { $in: [...ids] }, lookAt: { $lte: now } }, time),
    remove: async (ids) => {
      await again(() => chunks.deleteMany({ _id: { $in: [...ids] } }));
    },
  };

  async function setLook(which: Filter<Chunk>, lookAt: number): Promise<void> {
    await again(() => chunks.updateMany(which, { $set: { lookAt } }));
  }
}
