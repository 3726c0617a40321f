/**
 * Cancelling: one write from any live state, with its fact (decisions.md 9). The fact names the attempt, so the record
 * is read before; where it has moved on by the time of the write, it is read again.
 */
import {
  cancel,
  type InState,
  isFinished,
  type LiveKind,
  type MessageId,
  type MessageRecord,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { type Reading } from "./read.ts";
import { type Rooms } from "./rooms.ts";
import { liveStates, recordFrom, type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "./writes.ts";

export type Cancel = (tenant: TenantId, ids: readonly MessageId[]) => Promise<readonly Canceled[]>;

/** A record moves on a few times a second at most. */
const roundsMax = 20;

export function createCancel(rooms: Rooms, reading: Reading): Cancel {
  return async (tenant, ids) => {
    const done = new Map<MessageId, Canceled>();
    let left: readonly MessageId[] = [...new Set(ids)];
    for (let round = 0; left.length > 0 && round < roundsMax; round++) {
      const found = await findLive(rooms, reading, tenant, left);
      const canceled = await cancelAll(rooms, found);
      for (const each of canceled) if (each.kind === "canceled") done.set(each.message.id, each);
      left = found.map(({ message }) => message.id).filter((id) => !done.has(id));
    }
    if (left.length > 0) throw new Error(`${left.length} records move too fast to be cancelled`);
    return ids.map((id) => {
      const answer = done.get(id) ?? { kind: "unknown" };
      done.delete(id);
      return answer;
    });
  };
}

/** Parents of group publishes cannot be cancelled. */
async function findLive(
  { again, messages }: Rooms,
  reading: Reading,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<readonly InState<LiveKind>[]> {
  const filter = {
    _id: { $in: [...ids] },
    tenant,
    state: { $in: [...liveStates] },
    "message.fanOut": { $exists: false },
  };
  const found = await again(() => messages.find(filter).toArray());
  return (await reading.withBodies(found, recordFrom)).filter(isLive);
}

const isLive = (record: MessageRecord): record is InState<LiveKind> => !isFinished(record.state);

async function cancelAll(
  { again, messages, clock, token }: Rooms,
  records: readonly InState<LiveKind>[],
): Promise<readonly Canceled[]> {
  if (records.length === 0) return [];
  const now = clock.now();
  const changedBy = token();
  const planned = records.map((record) => ({ record, cancellation: cancel(record, now) }));
  const operations = planned.map(({ record, cancellation }) => {
    const { next, wakeAt, epoch, fact } = cancellation;
    const { $set, $unset } = stateWrite(next, wakeAt, now);
    const { message, state, retried } = record;
    const filter = { _id: message.id, epoch: record.epoch, state: state.kind, retried };
    const update = { $set: { ...$set, epoch, changedBy }, $unset, $push: { outbox: fact } };
    return { updateOne: { filter, update } } satisfies AnyBulkWriteOperation<StoredRecord>;
  });
  const { matched } = await writeAll(again, messages, operations);
  const ids = records.map(({ message }) => message.id);
  const ours =
    matched === records.length
      ? new Set(ids)
      : new Set(
          (
            await again(() =>
              messages.find({ _id: { $in: ids }, changedBy }, { projection: { _id: 1 } }).toArray(),
            )
          ).map(({ _id }) => _id),
        );
  return planned
    .filter(({ record }) => ours.has(record.message.id))
    .map(({ record: { message, state }, cancellation }) => ({
      kind: "canceled",
      message,
      was: state.kind,
      left: [cancellation.fact],
    }));
}
