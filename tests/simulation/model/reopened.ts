/** The records after the one process that had the store has died and another opens it. */
import { isIn, lossOf, type MessageRecord, movedUp } from "@posthaste/domain";

/**
 * Returns the record as the new process finds it. No claim of an earlier process is renewed, and no hint of it is
 * heard: its claims have lost a lease, and records that waited for a hint or have follow-ups ring now.
 */
export function reopened(record: MessageRecord, now: number): MessageRecord {
  const hasOutbox = record.outbox.length > 0;
  if (isIn(record, "claimed")) {
    const { flow } = record.message;
    return {
      ...record,
      state: flow === undefined ? { kind: "due", hints: 0 } : { kind: "waiting", flow },
      leaseLosses: record.leaseLosses + lossOf(record.state),
      wakeAt: flow !== undefined && !hasOutbox ? undefined : now,
    };
  }
  if (isIn(record, "canceled") && record.state.runsUntil !== undefined) {
    const { runsUntil: _, ...state } = record.state;
    return { ...record, state };
  }
  if (isIn(record, "held")) {
    const moved = movedUp(record.state, now, 0);
    if (moved) return { ...record, state: moved, wakeAt: hasOutbox ? now : moved.dueAt };
  }
  if (record.wakeAt === undefined || (record.state.kind !== "due" && !hasOutbox)) return record;
  return { ...record, wakeAt: Math.min(record.wakeAt, now) };
}
