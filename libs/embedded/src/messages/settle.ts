/** The two writes that end an attempt, settle and cancel, and the one that clears what they left (I2, I4). */
import {
  cancel,
  type InState,
  isFinished,
  type LiveKind,
  limits,
  type MessageId,
  type MessageRecord,
  type Settlement,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled, type OutboxItemRef, type Settled } from "@posthaste/ports";
import { integer } from "../database/rows.ts";
import { carryOut, isCallback } from "./consequences.ts";
import { ofTenant, type Reading } from "./read.ts";
import { alarmColumn, columnsOf, firstFinishedCode, stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Settling = {
  readonly settle: (settlement: Settlement) => Settled;
  readonly cancel: (tenant: TenantId, id: MessageId) => Canceled;
  readonly clear: (item: OutboxItemRef) => void;
};

export function openSettling(rooms: Rooms, reading: Reading): Settling {
  const { db, clock, names, lanes, outbox, writer, finished, backlog, tenants } = rooms;
  const write = db.prepare(`
    UPDATE messages SET state = ?, until = ?, hints = ?, owner = NULL, retried = ?, lease_losses = ?, deferrals = ?,
      outbox = outbox + ?, wake_at = iif(outbox + ? > 0, min(coalesce(?, ?), ?), ?)
    WHERE position = ? AND name = ? AND epoch = ? AND state = ${stateCodes.claimed}`);
  const standing = db.prepare("SELECT state, epoch FROM messages WHERE position = ? AND name = ?");
  const cancelAt = db.prepare(`
    UPDATE messages SET state = ${stateCodes.canceled}, until = ?, hints = 0, owner = NULL, epoch = ?, wake_at = ?
    WHERE position = ?`);
  const freeChunks = db.prepare("DELETE FROM chunk_uses WHERE parent = ?");
  const clear = db.prepare(`
    UPDATE messages SET outbox = outbox - 1,
      wake_at = iif(outbox = 1 AND state >= ${firstFinishedCode}, NULL, wake_at)
    WHERE position = ? RETURNING outbox, state, until`);

  const end = (position: number, tenant: number, endedAt: number): void =>
    writer.onCommit(() => {
      finished.add(position, endedAt);
      backlog.add(tenant, -1);
    });

  const missed = (position: number, name: string, epoch: number): Settled => {
    const row = standing.get(position, name);
    // Our own earlier write, whose answer was lost.
    const ours = row && integer(row["epoch"]) === epoch && integer(row["state"]) !== stateCodes.claimed;
    return ours ? { kind: "ok", left: [] } : { kind: "fenced" };
  };

  const settle = ({ message, epoch, next, retried, leaseLosses, deferrals, append }: Settlement): Settled => {
    const address = names.find(message.id);
    if (!address) return { kind: "fenced" };
    const { position, name } = address;
    const now = clock.now();
    const { code, until, hints } = columnsOf(next);
    const n = append.reduce((count, item) => count + (isCallback(item) ? 1 : 0), 0);
    const own = alarmColumn(next, false, now);
    const soon = now + limits.ringAheadMs;
    const { changes } = write.run(
      code, until, hints, retried, leaseLosses, deferrals, n, n, own, soon, soon, own, position, name, epoch,
    ); // prettier-ignore
    if (changes === 0) return missed(position, name, epoch);
    const left = append.length > 0 ? carryOut(rooms, message, position, append) : append;
    if (next.kind === "waiting" && message.flowLane !== undefined) lanes.arrive(message.flowLane, now);
    if (isFinished(next)) end(position, tenants.take(message.tenant), next.endedAt);
    return { kind: "ok", left };
  };

  return {
    settle,
    cancel: (tenant, id) => {
      const found = ofTenant(tenant, reading.find(id));
      if (!found || !isLive(found.record)) return { kind: "unknown" };
      const { record, position } = found;
      const { next, epoch, fact } = cancel(record, clock.now());
      const wakeAt = alarmColumn(next, record.outbox.length > 0, next.endedAt);
      cancelAt.run(next.endedAt, epoch, wakeAt, position);
      const left = carryOut(rooms, record.message, position, [fact]);
      if (record.message.fanOut) freeChunks.run(position);
      end(position, tenants.take(tenant), next.endedAt);
      return { kind: "canceled", message: record.message, was: record.state.kind, left };
    },
    clear: ({ id, attempt, item }) => {
      const address = names.find(id);
      if (!address || !outbox.remove(address.position, attempt, item)) return;
      const row = clear.get(address.position);
      if (!row || integer(row["outbox"]) > 0 || integer(row["state"]) < firstFinishedCode) return;
      const endedAt = integer(row["until"]);
      writer.onCommit(() => finished.add(address.position, endedAt));
    },
  };
}

const isLive = (record: MessageRecord): record is InState<LiveKind> => !isFinished(record.state);
