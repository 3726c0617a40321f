/**
 * Cancels messages: one write from any live state (docs/design/record#cancelling). The fact names the attempt, so the
 * record is read first. If the record has changed by the time of the write, it is read again.
 */
import {
  alarmOf,
  cancel,
  type Cancellation,
  dropped,
  type InState,
  isFinished,
  type LiveKind,
  liveKinds,
  type MessageId,
  type MessageRecord,
  owesOnlyLog,
  sourceOf,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled, type Records } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { wakeQueues } from "../queues/alarms.ts";
import { type Store } from "./store.ts";
import {
  isKnownFormat,
  recordFrom,
  type StoredRecord,
  stateWrite,
  withoutBodies,
} from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";
import { idsOf } from "../query/ids-of.ts";

export type Cancel = (tenant: TenantId, ids: readonly MessageId[]) => Promise<readonly Canceled[]>;

/** A record changes a few times a second at most. */
const roundsMax = 20;

export const createCancel =
  (store: Store): Cancel =>
  async (tenant, ids) => {
    const done = new Map<MessageId, Canceled>();
    for (const ended of await endAll(store, tenant, ids, cancellation)) {
      const { message, state } = ended.record;
      const told = isWhole(ended)
        ? { left: [], ...(ended.fact && { owed: ended.fact }) }
        : { left: ended.fact ? [ended.fact] : [] };
      done.set(message.id, { kind: "canceled", message, was: state.kind, ...told });
    }
    return ids.map((id) => {
      const answer = done.get(id) ?? { kind: "unknown" };
      done.delete(id);
      return answer;
    });
  };

export const createDrop =
  (store: Store): Records["drop"] =>
  async (tenant, ids) =>
    (await endAll(store, tenant, ids, dropped)).map(({ record }) => record.message);

/** Messages of a run are dropped with their run and never cancelled: without one of them the run would stand still. */
const cancellation: Ending = (record, now) =>
  record.message.run ? undefined : cancel(record, now);

type Ending = (
  record: InState<LiveKind>,
  now: number,
) => (Pick<Cancellation, "next" | "epoch"> & Partial<Pick<Cancellation, "fact">>) | undefined;

type Ended = { readonly record: InState<LiveKind>; readonly fact?: Cancellation["fact"] };

async function endAll(
  store: Store,
  tenant: TenantId,
  ids: readonly MessageId[],
  ending: Ending,
): Promise<readonly Ended[]> {
  const done = new Map<MessageId, Ended>();
  let left: readonly MessageId[] = [...new Set(ids)];
  for (let round = 0; left.length > 0 && round < roundsMax; round++) {
    const now = store.clock.now();
    const found = await findLive(store, tenant, left);
    const planned = found.flatMap((record): Planned[] => {
      const ended = ending(record, now);
      return ended ? [{ record, ...ended }] : [];
    });
    for (const each of await write(store, planned, now)) done.set(each.record.message.id, each);
    left = planned.map(({ record }) => record.message.id).filter((id) => !done.has(id));
  }
  if (left.length > 0) throw new Error(`${left.length} records change too fast to be cancelled`);
  return [...done.values()];
}

async function findLive(
  { again, messages }: Store,
  tenant: TenantId,
  ids: readonly MessageId[],
): Promise<readonly InState<LiveKind>[]> {
  const filter = {
    _id: { $in: [...ids] },
    tenant,
    ...isKnownFormat,
    state: { $in: [...liveKinds] },
  };
  const found = await again(() => messages.find(filter, { projection: withoutBodies }).toArray());
  return found.map((stored) => recordFrom(stored)).filter(isLive);
}

const isLive = (record: MessageRecord): record is InState<LiveKind> => !isFinished(record.state);

type Planned = Ended & Pick<Cancellation, "next" | "epoch">;
type Write = AnyBulkWriteOperation<StoredRecord>;

/** Reports whether the record ends with an empty outbox. */
const isWhole = ({ record, fact }: Ended): boolean =>
  fact ? owesOnlyLog(record, fact) : record.outbox.length === 0;

async function write(
  store: Store,
  planned: readonly Planned[],
  now: number,
): Promise<readonly Planned[]> {
  if (planned.length === 0) return [];
  const { again, messages, token } = store;
  const changedBy = token();
  const whole = Map.groupBy(planned.filter(isWhole), alikeOf);
  const others = planned.filter((each) => !isWhole(each));
  const { matched } = await writeAll(again, messages, [
    ...[...whole.values()].flatMap((alike) => endingAlike(alike, changedBy, now)),
    ...others.map((each) => endingOne(each, changedBy, now)),
  ]);
  const ids = planned.map(({ record }) => record.message.id);
  const ours = new Set(
    matched === planned.length
      ? ids
      : await idsOf(again, messages, { _id: { $in: ids }, changedBy }),
  );
  await wakeQueues(
    store,
    planned.map(({ record }) => record.message),
  );
  return planned.filter(({ record }) => ours.has(record.message.id));
}

/** Returns the same text for records that one statement may end. */
const alikeOf = ({ record: { epoch, retried, state }, fact }: Planned): string =>
  `${epoch} ${retried} ${state.kind} ${fact?.ended}`;

/** Returns the statement that ends such records, with empty outboxes. */
function endingAlike(alike: readonly Planned[], changedBy: string, now: number): Write[] {
  const [first] = alike;
  if (!first) return [];
  const { record, next, epoch, fact } = first;
  const { $set, $unset } = stateWrite(next, undefined, now);
  const { sweepAt = now, ...state } = $set;
  // Sorted, so that two statements that meet wait for each other on one side only.
  const ids = alike.map(({ record: { message } }) => message.id).sort();
  const filter = {
    ...{ _id: { $in: ids }, epoch: record.epoch, state: record.state.kind },
    ...{ retried: record.retried, outbox: { $size: 0 } },
  };
  const sweep = fact ? { canceledSweepAt: sweepAt } : { sweepAt };
  return [
    { updateMany: { filter, update: { $set: { ...state, ...sweep, epoch, changedBy }, $unset } } },
  ];
}

function endingOne({ record, next, epoch, fact }: Planned, changedBy: string, now: number): Write {
  const { message, state, retried, outbox } = record;
  const items = fact ? [...outbox, fact] : outbox;
  const wakeAt = alarmOf(next, items.length > 0, now);
  const { $set, $unset } = stateWrite(next, wakeAt, now, sourceOf(next, items));
  const filter = { _id: message.id, epoch: record.epoch, state: state.kind, retried };
  const update = {
    $set: { ...$set, epoch, changedBy },
    $unset,
    ...(fact && { $push: { outbox: fact } }),
  };
  return { updateOne: { filter, update } };
}
