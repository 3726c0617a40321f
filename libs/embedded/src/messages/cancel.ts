/** Cancelling: one write from any live state, with its fact (docs/design/record#cancelling). */
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
import { carryOut, end, endInQueue } from "./consequences.ts";
import { ofTenant, type Reading } from "./read.ts";
import { alarmColumn, stateCodes } from "./records.ts";
import { type Rooms } from "./rooms.ts";

export type Cancel = (tenant: TenantId, id: MessageId) => Canceled;

export function openCancel(rooms: Rooms, reading: Reading): Cancel {
  const { db, clock, tenants } = rooms;
  const write = db.prepare(`
    UPDATE messages SET state = ${stateCodes.canceled}, until = ?, runs_until = ?, hints = 0, owner = NULL, epoch = ?, wake_at = ?
    WHERE position = ?`);

  return (tenant, id) => {
    const found = ofTenant(tenant, reading.slim(id));
    if (!found || found.record.message.run || !isLive(found.record)) return { kind: "unknown" };
    const { record, position, hasOutbox } = found;
    const { next, epoch, fact } = cancel(record, clock.now());
    const wakeAt = alarmColumn(next, hasOutbox, next.endedAt);
    write.run(next.endedAt, next.runsUntil ?? null, epoch, wakeAt, position);
    const left = carryOut(rooms, record.message, position, [fact]);
    end(rooms, position, tenants.take(tenant), next.endedAt);
    if (record.message.queue !== undefined || record.message.turnOf)
      endInQueue(rooms, record.message, position, next.endedAt);
    return { kind: "canceled", message: record.message, was: record.state.kind, left };
  };
}

const isLive = (record: MessageRecord): record is InState<LiveKind> => !isFinished(record.state);
