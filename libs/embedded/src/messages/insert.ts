/**
 * Inserts the record, its configuration and body, its CREATED event, its lane and its deduplication windows in one transaction. A plain
 * message is one row and its body (whole.ts).
 */
import {
  alarmOnEntering,
  flowOf,
  flowsSetBy,
  isFinished,
  type MessageRecord,
  originHash,
  sentBytes,
} from "@posthaste/domain";
import { type Insert, type Inserted } from "@posthaste/ports";
import { text } from "../database/rows.ts";
import { carryOut, isLeft } from "./settle.ts";
import { type Address, idOf, ownAddress } from "./positions.ts";
import { columnsOf } from "./records.ts";
import { type Store } from "./store.ts";

export function openInsert(store: Store): (insert: Insert) => Inserted {
  const {
    db,
    clock,
    configurations,
    events,
    fanOuts,
    lanes,
    names,
    queues,
    tenants,
    terms,
    wholes,
    windows,
    writer,
  } = store;
  const put = db.prepare(`
    INSERT INTO messages (position, name, tenant, shard, origin, state, until, hints, wake_at, epoch, owner, retried,
      lease_losses, deferrals, outbox, lane, body_of, format, body_bytes, queue, place, turn_of)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (position) DO NOTHING`);
  const standing = db.prepare("SELECT name FROM messages WHERE position = ?");

  const insertWhole = ({ record, deduplication }: Insert, position: number): Inserted => {
    const { message, state } = record;
    const tenant = tenants.take(message.tenant);
    if (!wholes.put(record, position, tenant) && isKnown(ownAddress(message.id, position)))
      return "known";
    configurations.putBody(position, message.body);
    terms.put(position, message);
    if (deduplication) windows.put(deduplication);
    if (state.kind === "claimed") store.claimed.add(position);
    writer.onCommit(() => {
      store.backlog.add(tenant, 1);
      events.toldByRow(tenant, [{ at: message.createdAt, state: "CREATED" }]);
      if (state.kind === "due") store.recent.add(position, { ...record, outbox: [] });
    });
    return "inserted";
  };

  const insertOne = (insert: Insert): Inserted => {
    const { record, deduplication } = insert;
    const place = wholes.placeOf(record);
    if (place !== undefined) return insertWhole(insert, place);
    const { message, state } = record;
    const now = clock.now();
    const keeper = message.bodyOf === undefined ? undefined : fanOuts.keeperOf(message.id);
    const address = names.take(message.id, now, keeper?.reserved);
    const flow = flowOf(message);
    const flowsSet = flowsSetBy(message);
    const { queue } = message;
    // With lanes the insert reads first: a message that is stored already must neither set the limits of a lane nor take a place.
    const standsInLine = flow !== undefined || flowsSet.length > 0 || queue !== undefined;
    if (!address || (standsInLine && isKnown(address))) return "known";
    for (const each of flowsSet) lanes.configure(each, now);
    const tenant = tenants.take(message.tenant);
    const left = record.outbox.filter(isLeft);
    const wakeAt =
      record.outbox.length > 0
        ? alarmOnEntering(message, state, left.length > 0, now)
        : record.wakeAt;
    const columns = columnsOf(state);
    const bodyOf = keeper?.position ?? null;
    const spot =
      keeper?.spot ?? (queue === undefined ? undefined : queues.join({ ...message, queue }, now));
    if (keeper?.spot) queues.takeReserved(keeper.spot.queue, now);
    const { changes } = put.run(
      address.position,
      address.name,
      tenant,
      message.shard,
      originHash(message.url),
      columns.code,
      columns.until,
      columns.hints,
      wakeAt ?? null,
      record.epoch,
      columns.owner,
      record.retried,
      record.leaseLosses,
      record.deferrals,
      left.length,
      flow ? lanes.join(flow, now) : null,
      bodyOf,
      message.format ?? 1,
      sentBytes(message),
      spot?.queue ?? null,
      spot?.place ?? null,
      message.turnOf ? (names.find(message.turnOf.id)?.position ?? null) : null,
    );
    if (changes === 0 && isKnown(address)) return "known";
    configurations.put(address.position, message);
    if (bodyOf === null) configurations.putBody(address.position, message.body);
    else fanOuts.addChild(bodyOf);
    if (state.kind === "waiting" && flow) lanes.wake(flow.lane, now);
    if (!message.run) {
      events.created(tenant, address.position, message.createdAt);
      events.countCreated(tenant, message.createdAt);
    }
    if (record.outbox.length > 0) carryOut(store, message, address.position, record.outbox);
    if (deduplication) windows.put(deduplication);
    inserted(address.position, tenant, record);
    if (state.kind === "due" && bodyOf === null && left.length === 0)
      writer.onCommit(() => store.recent.add(address.position, { ...record, outbox: [] }));
    return "inserted";
  };

  const inserted = (position: number, tenant: number, { state }: MessageRecord): void => {
    if (state.kind === "claimed") store.claimed.add(position);
    if (isFinished(state)) writer.onCommit(() => store.finished.add(position, state.endedAt));
    else writer.onCommit(() => store.backlog.add(tenant, 1));
  };

  const isKnown = (address: Address): boolean => {
    const row = standing.get(address.position);
    if (row && text(row["name"]) !== address.name)
      throw new Error(`two messages claim the position of ${idOf(address)}`);
    return row !== undefined;
  };

  return insertOne;
}
