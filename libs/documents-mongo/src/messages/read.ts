/** Reading records whole: their bodies stand with them or, of a group's children, once with their parent. */
import { type MessageId, type MessageRecord, type TenantId } from "@posthaste/domain";
import { bytes } from "../bytes.ts";
import { createGather, type Gather } from "../gather.ts";
import { inOneReply, type Rooms } from "./rooms.ts";
import { recordFrom, type StoredRecord } from "./stored.ts";

export type Reading = {
  /** Of documents read with or without their bodies. One whose body is gone is left out, loudly. */
  readonly withBodies: <R>(
    found: readonly StoredRecord[],
    make: (stored: StoredRecord, body: Uint8Array) => R,
  ) => Promise<readonly R[]>;
  readonly get: Gather<Wanted, MessageRecord | undefined>;
};
type Wanted = { readonly tenant: TenantId; readonly id: MessageId };

export function createReading({ again, log, messages }: Rooms): Reading {
  const withBodies: Reading["withBodies"] = async (found, make) => {
    const bodies = await bodiesOf(found);
    return found.flatMap((stored) => {
      const body = stored.body ?? bodies.get(keeperOf(stored));
      if (body || stored.bodyBytes === 0) return make(stored, bytes(body ?? noBody));
      log.error("documents.body_missing", { messageId: stored._id });
      return [];
    });
  };

  const bodiesOf = async (
    found: readonly StoredRecord[],
  ): Promise<ReadonlyMap<MessageId, Uint8Array>> => {
    const missing = found.filter(({ body, bodyBytes }) => !body && bodyBytes > 0).map(keeperOf);
    if (missing.length === 0) return new Map();
    const keepers = await again(() =>
      messages.find({ _id: { $in: [...new Set(missing)] } }, { projection: { body: 1 } }).toArray(),
    );
    return new Map(keepers.flatMap(({ _id, body }) => (body ? [[_id, body]] : [])));
  };

  const get = createGather<Wanted, MessageRecord | undefined>(
    async (wanted) => {
      const ids = [...new Set(wanted.map(({ id }) => id))];
      const filter = { _id: { $in: ids }, tombstoneUntil: { $exists: false } };
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
  return { withBodies, get };
}

const keeperOf = ({ _id, bodyOf }: StoredRecord): MessageId => bodyOf ?? _id;
const noBody = new Uint8Array();
const readAtOnceMax = 100;
