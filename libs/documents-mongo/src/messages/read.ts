/** Reads records whole. Most bodies are in their record, heavy ones apart, and the body of a group's children is in their fan-out. */
import { limits, type MessageId, type MessageRecord, type TenantId } from "@posthaste/domain";
import { type Records } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { createGather, type Gather } from "../writes/gather.ts";
import { inStatements } from "./bodies.ts";
import { inOneReply, type Store } from "./store.ts";
import { nameOfBody } from "./stored-body.ts";
import {
  answerBytesOf,
  isKnownFormat,
  recordFrom,
  stateFrom,
  type StoredRecord,
} from "./stored.ts";

export type Reading = {
  /** Adds the bodies to documents read with or without them. A record whose body is missing is left out and logged as an error. */
  readonly withBodies: <R>(
    found: readonly StoredRecord[],
    make: (stored: StoredRecord, body: Uint8Array) => R,
  ) => Promise<readonly R[]>;
  readonly get: Gather<Wanted, MessageRecord | undefined>;
  readonly getSome: Records["getSome"];
  readonly progress: Records["progress"];
};
type Found = {
  readonly found: readonly StoredRecord[];
  readonly left: readonly MessageId[];
};
type Wanted = { readonly tenant: TenantId; readonly id: MessageId };

export function createReading(store: Store): Reading {
  const { again, log, messages } = store;
  const withBodies: Reading["withBodies"] = async (found, make) => {
    const read = await readBodies(store, found);
    return found.flatMap((stored) => {
      const body = stored.body ? bytes(stored.body) : read.get(keeperOf(stored));
      if (body || stored.bodyBytes === 0) return make(stored, body ?? noBody);
      log.error("documents.body_missing", { messageId: stored._id });
      return [];
    });
  };

  const get = createGather<Wanted, MessageRecord | undefined>(
    async (wanted) => {
      const ids = [...new Set(wanted.map(({ id }) => id))];
      const filter = { _id: { $in: ids }, ...isLiving };
      const found = await again(() => messages.find(filter, inOneReply).toArray());
      const records = await withBodies(found, recordFrom);
      const byId = new Map(records.map((record) => [record.message.id, record]));
      return wanted.map(({ tenant, id }) => {
        const record = byId.get(id);
        return record?.message.tenant === tenant ? record : undefined;
      });
    },
    { itemsMax: readAtOnceMax },
  );

  /** Reads reply by reply, so that at most one reply more is read than fits. */
  const findSome = async (tenant: TenantId, ids: readonly MessageId[]): Promise<Found> => {
    const left = new Set(ids);
    const filter = { _id: { $in: [...left] }, tenant, ...isKnownFormat };
    const found: StoredRecord[] = [];
    let bytes = 0;
    for await (const stored of messages.find(filter, inSmallReplies)) {
      if (bytes >= limits.readBytesMax) return { found, left: [...left] };
      found.push(stored);
      left.delete(stored._id);
      bytes += stored.bodyBytes + answerBytesOf(stored);
    }
    return { found, left: [] };
  };

  const getSome: Records["getSome"] = async (tenant, ids) => {
    const { found, left } = await again(() => findSome(tenant, ids));
    return { records: await withBodies(found, recordFrom), left };
  };
  return { withBodies, get, getSome, progress: createProgress(store) };
}

async function readBodies(
  store: Store,
  found: readonly StoredRecord[],
): Promise<ReadonlyMap<string, Uint8Array>> {
  const missing = found.filter(({ body, bodyBytes }) => !body && bodyBytes > 0);
  const wanted = new Map(missing.map((stored) => [keeperOf(stored), stored]));
  const read = new Map<string, Uint8Array>();
  for (const some of inStatements([...wanted.values()])) {
    const found = await readPortion(store, some);
    // A single document shares its memory with nothing larger.
    const own = found.length === 1 ? viewOf : bytes;
    for (const { _id, body } of found) if (body) read.set(_id, own(body));
  }
  return read;
}

async function readPortion(
  { again, bodies, fanOuts, messages }: Store,
  some: readonly StoredRecord[],
): Promise<readonly { readonly _id: string; readonly body?: Uint8Array }[]> {
  const apart = some.flatMap((stored) => (stored.bodyApart ? nameOfBody(stored) : []));
  const shared = some.flatMap(({ bodyOf }) => bodyOf ?? []);
  const own = some.flatMap(({ _id, bodyApart, bodyOf }) => (bodyApart || bodyOf ? [] : _id));
  const projection = { body: 1 } as const;
  const portion = await Promise.all([
    apart.length > 0
      ? again(() => bodies.find({ _id: { $in: apart } }, { projection }).toArray())
      : [],
    shared.length > 0
      ? again(() => fanOuts.find({ _id: { $in: shared } }, { projection }).toArray())
      : [],
    own.length > 0
      ? again(() => messages.find({ _id: { $in: own } }, { projection }).toArray())
      : [],
  ]);
  return portion.flat();
}

const createProgress =
  ({ again, messages }: Pick<Store, "again" | "messages">): Records["progress"] =>
  async (tenant, ids) => {
    const filter = { _id: { $in: [...ids] }, tenant, ...isLiving };
    const found = await again(() =>
      messages.find(filter, { ...inOneReply, projection: withoutWhatItCarries }).toArray(),
    );
    const byId = new Map(found.map((stored) => [stored._id, stored]));
    return ids.map((id) => {
      const stored = byId.get(id);
      if (!stored) return undefined;
      const { retriesMax } = stored.message.policy;
      return { state: stateFrom(stored), retried: stored.retried, retriesMax };
    });
  };

const isLiving = { tombstoneUntil: { $exists: false }, ...isKnownFormat } as const;
const withoutWhatItCarries = { body: 0, outbox: 0, "message.headers": 0 } as const;

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength);

const keeperOf = (stored: StoredRecord): string =>
  stored.bodyApart ? nameOfBody(stored) : (stored.bodyOf ?? stored._id);
const noBody = new Uint8Array();
const readAtOnceMax = 100;
const inSmallReplies = { batchSize: 16 } as const;
