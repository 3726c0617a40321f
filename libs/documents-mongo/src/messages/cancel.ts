/**
 * Cancelling: one write from any live state, with its fact (docs/design/record#cancelling). The fact names the attempt, so the record
 * is read before; where it has moved on by the time of the write, it is read again.
 */
import {
  cancel,
  type InState,
  isFinished,
  type LiveKind,
  type MessageId,
  type MessageRecord,
  sourceOf,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { wakeQueues } from "../queues/alarms.ts";
import { type Rooms } from "./rooms.ts";
import { isUnderstood, liveStates, recordFrom, type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "./writes.ts";

export type Cancel = (tenant: TenantId, ids: readonly MessageId[]) => Promise<readonly Canceled[]>;

/** A record moves on a few times a second at most. */
const roundsMax = 20;

export function createCancel(rooms: Rooms): Cancel {
  return async (tenant, ids) => {
    const done = new Map<MessageId, Canceled>();
    let left: readonly MessageId[] = [...new Set(ids)];
    for (let round = 0; left.length > 0 && round < roundsMax; round++) {
      const found = await findLive(rooms, tenant, left);
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

async function findLive(
  { again, messages }: Rooms,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<readonly InState<LiveKind>[]> {
  const filter = {
    _id: { $in: [...ids] },
    tenant,
    ...isUnderstood,
    state: { $in: [...liveStates] },
  };
  const found = await again(() => messages.find(filter, { projection: slim }).toArray());
  // The messages of a run are cancelled with it: without one of them it would stand still.
  return found
    .map((stored) => recordFrom(stored, noBody))
    .filter(isLive)
    .filter(({ message }) => !message.run);
}

/** Neither body nor answers: many may be cancelled at once. */
const slim = { body: 0, "outbox.response": 0 } as const;
const noBody = new Uint8Array();

const isLive = (record: MessageRecord): record is InState<LiveKind> => !isFinished(record.state);

async function cancelAll(
  rooms: Rooms,
  records: readonly InState<LiveKind>[],
): Promise<readonly Canceled[]> {
  if (records.length === 0) return [];
  const { again, messages, clock, token } = rooms;
  const now = clock.now();
  const changedBy = token();
  const planned = records.map((record) => ({ record, cancellation: cancel(record, now) }));
  const operations = planned.map(({ record, cancellation }) => {
    const { next, wakeAt, epoch, fact } = cancellation;
    const { message, state, retried, outbox } = record;
    const source = sourceOf(next, [...outbox, fact]);
    const { $set, $unset } = stateWrite(next, wakeAt, now, source);
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
  await wakeQueues(
    rooms,
    planned.map(({ record }) => record.message),
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
