/**
 * Walks through the live messages of a tenant by id: along the index of a term if the filter has one; along the
 * tenant's index if the tenant has few messages; otherwise along all ids. The end of a step is found first, along the
 * keys alone: a step without matches reads no document.
 */
import {
  type LiveFilter,
  liveKinds,
  matchesLive,
  type MessageId,
  type TenantId,
} from "@posthaste/domain";
import { type Records, type Walk, type Walked } from "@posthaste/ports";
import { type Filter } from "mongodb";
import {
  type Conditions,
  conditionsOf,
  recordConditions,
  termConditions,
} from "../query/conditions.ts";
import { type Store } from "./store.ts";
import { collectionName, isKnownFormat, type StoredRecord } from "./stored.ts";

const liveConditions: Conditions<LiveFilter> = {
  ...recordConditions,
  hosts: () => ({}),
  paths: () => ({}),
};

/** Returns the part of a filter that the server does not compare. `lookedAt` are the fields for it. */
const leftOpen = ({ from, hosts, paths, to }: LiveFilter): LiveFilter => ({
  ...(from !== undefined && { from }),
  ...(to !== undefined && { to }),
  ...(hosts && { hosts }),
  ...(paths && { paths }),
});
const lookedAt = { "message.url": 1, "message.createdAt": 1, "message.run": 1 } as const;

/** The ids of a step. `end`: the last of them, if more follow. */
type Window = { readonly ids: Filter<StoredRecord>["_id"]; readonly end: MessageId | undefined };

export function createMatching({ heavy }: Store): Records["matching"] {
  const messages = heavy.collection<StoredRecord>(collectionName);

  const windowOf = async (
    tenant: TenantId,
    filter: LiveFilter,
    { after, upTo, lookedMax }: Walk,
  ): Promise<Window> => {
    const range = { ...(after !== undefined && { $gt: after as MessageId }), $lt: upTo.id };
    const term = termConditions(filter);
    const along = (term ? { tenant, ...term, _id: range } : { _id: range }) as Filter<StoredRecord>;
    const [end] = await heavy.again(tenant)(() =>
      messages
        .find(along, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .skip(lookedMax - 1)
        .limit(1)
        .maxTimeMS(heavy.msMax)
        .toArray(),
    );
    return { ids: end ? { ...range, $lte: end._id } : range, end: end?._id };
  };

  /**
   * Resolves to all ids of the tenant, or to undefined if there are more than `lookedMax`. They are read from an
   * index in which a record moves with its state: one snapshot misses no record (ADR 180).
   */
  const ownWindow = async (
    tenant: TenantId,
    { after = "", upTo, lookedMax }: Walk,
  ): Promise<Window | undefined> => {
    const own = { tenant, state: { $in: [...liveKinds] } };
    const found = await heavy.again(tenant)(() =>
      messages
        .find(own, { projection: { _id: 1 }, readConcern: { level: "snapshot" } })
        .hint({ tenant: 1, state: 1, origin: 1, _id: 1 })
        .limit(lookedMax + 1)
        .batchSize(lookedMax + 1)
        .maxTimeMS(heavy.msMax)
        .toArray(),
    );
    if (found.length > lookedMax) return undefined;
    const ids = found.flatMap(({ _id }) => (_id > after && _id < upTo.id ? _id : []));
    return { ids: { $in: ids }, end: undefined };
  };

  const matched = async (
    tenant: TenantId,
    filter: LiveFilter,
    { after, upTo, foundMax }: Walk,
    { ids: window, end }: Window,
  ): Promise<Walked> => {
    const wanted = {
      ...{ _id: window, tenant, ...isKnownFormat, state: { $in: [...liveKinds] } },
      "message.createdAt": { $lte: upTo.at },
      ...conditionsOf(liveConditions, filter),
    } as Filter<StoredRecord>;
    const found = await heavy.again(tenant)(() =>
      messages
        .find(wanted, { projection: lookedAt, batchSize: foundMax })
        .sort({ _id: 1 })
        .limit(foundMax)
        .maxTimeMS(heavy.msMax)
        .toArray(),
    );
    const open = leftOpen(filter);
    const ids: MessageId[] = [];
    let last = after;
    for (const { _id: id, message } of found) {
      if (matchesLive(open, { ...message, id })) ids.push(id);
      last = id;
    }
    const next = found.length === foundMax ? last : end;
    return { ids, ...(next !== undefined && { next }) };
  };

  return async (tenant, filter, walk) => {
    // First a step over `foundMax` records, which suffices when most match: a server may read each document that it skips.
    const near = { ...walk, lookedMax: Math.min(walk.foundMax, walk.lookedMax) };
    const found = await matched(tenant, filter, near, await windowOf(tenant, filter, near));
    const isEnough = found.next === undefined || found.ids.length >= near.lookedMax / 2;
    if (isEnough || near.lookedMax === walk.lookedMax) return found;
    const own = termConditions(filter) ? undefined : await ownWindow(tenant, walk);
    return matched(tenant, filter, walk, own ?? (await windowOf(tenant, filter, walk)));
  };
}
