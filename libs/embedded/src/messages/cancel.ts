/** Cancels messages: one write from any live state, with its fact (docs/design/record#cancelling). */
import {
  cancel,
  dropped,
  type InState,
  isFinished,
  type LiveKind,
  type MessageId,
  type MessageRecord,
  type TenantId,
} from "@posthaste/domain";
import { type Canceled, type Dropped } from "@posthaste/ports";
import { carryOut, end, endInQueue } from "./settle.ts";
import { ofTenant, type Reading } from "./read.ts";
import { alarmColumn, stateCodes } from "./records.ts";
import { type Store } from "./store.ts";

export type Cancel = {
  readonly cancel: (tenant: TenantId, id: MessageId) => Canceled;
  /** Returns undefined when the record is running or finished. */
  readonly drop: (tenant: TenantId, id: MessageId) => Dropped | undefined;
};

export function openCancel(store: Store, reading: Reading): Cancel {
  const { db, clock, tenants, wholes } = store;
  const write = db.prepare(`
    UPDATE messages SET state = ${stateCodes.canceled}, until = ?, runs_until = ?, hints = 0, owner = NULL, epoch = ?, wake_at = ?
    WHERE position = ?`);

  const cancelOne: Cancel["cancel"] = (tenant, id) => {
    const found = ofTenant(tenant, reading.slim(id));
    if (!found || found.record.message.run || !isLive(found.record)) return { kind: "unknown" };
    const { record, position, hasOutbox } = found;
    const { next, epoch, fact } = cancel(record, clock.now());
    const wakeAt = alarmColumn(next, hasOutbox, next.endedAt);
    write.run(next.endedAt, next.runsUntil ?? null, epoch, wakeAt, position);
    wholes.split(record.message, position);
    const left = carryOut(store, record.message, position, [fact]);
    end(store, position, tenants.take(tenant), next.endedAt);
    if (record.message.queue !== undefined || record.message.turnOf)
      endInQueue(store, record.message, position, next.endedAt);
    return { kind: "canceled", message: record.message, was: record.state.kind, left };
  };

  return {
    cancel: cancelOne,
    drop: (tenant, id) => {
      const found = ofTenant(tenant, reading.slim(id));
      const drop = found && dropped(found.record, clock.now());
      if (!drop) return undefined;
      const { hasOutbox, position, record } = found;
      const { endedAt } = drop.next;
      const wakeAt = alarmColumn(drop.next, hasOutbox, endedAt);
      write.run(endedAt, null, drop.epoch, wakeAt, position);
      end(store, position, tenants.take(tenant), endedAt);
      return record.message;
    },
  };
}

const isLive = (record: MessageRecord): record is InState<LiveKind> => !isFinished(record.state);
