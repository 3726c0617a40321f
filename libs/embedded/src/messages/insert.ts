/** Inserting: the record, its configuration and body, its CREATED event, its lane and its dedup windows, in one transaction. */
import { isFinished, type MessageId, originHash } from "@posthaste/domain";
import { type Insert, type Inserted } from "@posthaste/ports";
import { integer, text } from "../database/rows.ts";
import { carryOut, isCallback } from "./consequences.ts";
import { type Address, idOf } from "./names.ts";
import { alarmColumn, columnsOf } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export function openInsert(rooms: Rooms): (insert: Insert) => Inserted {
  const { db, clock, configurations, events, lanes, names, tenants, windows, writer } = rooms;
  const put = db.prepare(`
    INSERT INTO messages (position, name, tenant, shard, origin, state, until, hints, wake_at, epoch, owner, retried,
      lease_losses, deferrals, outbox, lane, body_of)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (position) DO NOTHING`);
  const standing = db.prepare("SELECT name FROM messages WHERE position = ?");
  const addChild = db.prepare(
    "UPDATE messages SET children = children + 1 WHERE position = ? AND name = ? RETURNING position",
  );
  const useChunk = db.prepare("INSERT OR IGNORE INTO chunk_uses (chunk, parent) VALUES (?, ?)");

  const insertOne = ({ record, deduplication }: Insert): Inserted => {
    const { message, state } = record;
    const now = clock.now();
    const address = names.take(message.id, now);
    // With a lane we look first: an insert that is known already must not give the lane its limits.
    if (!address || (message.flowLane !== undefined && isKnown(address))) return "known";
    const tenant = tenants.take(message.tenant);
    const left = record.outbox.filter(isCallback);
    const wakeAt =
      record.outbox.length > 0 ? alarmColumn(state, left.length > 0, now) : (record.wakeAt ?? null);
    const columns = columnsOf(state);
    const bodyOf = message.bodyOf === undefined ? null : bodyOfParent(message.bodyOf);
    const { changes } = put.run(
      address.position,
      address.name,
      tenant,
      message.shard,
      originHash(message.url),
      columns.code,
      columns.until,
      columns.hints,
      wakeAt,
      record.epoch,
      columns.owner,
      record.retried,
      record.leaseLosses,
      record.deferrals,
      left.length,
      lanes.join(message),
      bodyOf,
    );
    if (changes === 0 && isKnown(address)) return "known";
    configurations.put(address.position, message);
    if (bodyOf === null) configurations.putBody(address.position, message.body);
    if (state.kind === "waiting" && message.flowLane !== undefined)
      lanes.arrive(message.flowLane, now);
    if (message.fanOut)
      for (const chunk of message.fanOut.chunks) useChunk.run(chunk, address.position);
    else events.created(tenant, address.position, message.createdAt);
    if (record.outbox.length > 0) carryOut(rooms, message, address.position, record.outbox);
    if (deduplication) windows.put(deduplication);
    if (isFinished(state))
      writer.onCommit(() => rooms.finished.add(address.position, state.endedAt));
    else writer.onCommit(() => rooms.backlog.add(tenant, 1));
    if (state.kind === "due" && bodyOf === null && left.length === 0)
      writer.onCommit(() => rooms.recent.add(address.position, { ...record, outbox: [] }));
    return "inserted";
  };

  /** The parent's row, if the body is there to be shared. */
  const bodyOfParent = (parent: MessageId): number | null => {
    const address = names.find(parent);
    const row = address && addChild.get(address.position, address.name);
    return row ? integer(row["position"]) : null;
  };

  const isKnown = (address: Address): boolean => {
    const row = standing.get(address.position);
    if (row && text(row["name"]) !== address.name)
      throw new Error(`two messages claim the position of ${idOf(address)}`);
    return row !== undefined;
  };

  return insertOne;
}
