/**
 * Walking through the live messages of a tenant by id, along the index of a term where the filter has one. Where a step ends
 * is found first, along the keys alone: one in which nothing matches reads no document.
 */
import { type LiveFilter, liveKinds, matchesLive, type MessageId } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { type Filter } from "mongodb";
import {
  type Conditions,
  conditionsOf,
  recordConditions,
  termConditions,
} from "../query/conditions.ts";
import { heavyMsMax } from "../connection.ts";
import { type Rooms } from "./rooms.ts";
import { collectionName, isUnderstood, type StoredRecord } from "./stored.ts";

/** What `matchesLive` looks at. */
const lookedAt = {
  "message.url": 1,
  "message.createdAt": 1,
  "message.origin": 1,
  "message.policy": 1,
  "message.run": 1,
} as const;

const liveConditions: Conditions<LiveFilter> = {
  ...recordConditions,
  // Asked of what is found.
  hosts: () => ({}),
  paths: () => ({}),
};

export function createMatching({ heavy }: Rooms): Records["matching"] {
  const messages = heavy.collection<StoredRecord>(collectionName);
  /** Along the next `lookedMax` records, of the term where there is one. */
  const look: Records["matching"] = async (tenant, filter, walk) => {
    const again = heavy.again(tenant);
    const { after, upTo, foundMax, lookedMax } = walk;
    const range = { ...(after !== undefined && { $gt: after as MessageId }), $lt: upTo.id };
    const term = termConditions(filter);
    const along = (term ? { tenant, ...term, _id: range } : { _id: range }) as Filter<StoredRecord>;
    const [end] = await again(() =>
      messages
        .find(along, { projection: { _id: 1 } })
        .sort({ _id: 1 })
        .skip(lookedMax - 1)
        .limit(1)
        .maxTimeMS(heavyMsMax)
        .toArray(),
    );
    const window = end ? { ...range, $lte: end._id } : range;
    const wanted = {
      ...{ _id: window, tenant, ...isUnderstood, state: { $in: [...liveKinds] } },
      "message.createdAt": { $lte: upTo.at },
      ...conditionsOf(liveConditions, filter),
    } as Filter<StoredRecord>;
    const found = await again(() =>
      messages
        .find(wanted, { projection: lookedAt, batchSize: foundMax })
        .sort({ _id: 1 })
        .limit(foundMax)
        .maxTimeMS(heavyMsMax)
        .toArray(),
    );
    const ids: MessageId[] = [];
    let last = after;
    for (const { _id: id, message } of found) {
      if (matchesLive(filter, { ...message, id })) ids.push(id);
      last = id;
    }
    const next = found.length === foundMax ? last : end?._id;
    return { ids, ...(next !== undefined && { next }) };
  };

  return async (tenant, filter, walk) => {
    // Where most of them match, as many as are wanted are enough: a server may read each document that it passes over.
    const near = Math.min(walk.foundMax, walk.lookedMax);
    const found = await look(tenant, filter, { ...walk, lookedMax: near });
    const isEnough = found.next === undefined || found.ids.length >= near / 2;
    return isEnough || near === walk.lookedMax ? found : look(tenant, filter, walk);
  };
}
