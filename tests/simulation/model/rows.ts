/**
 * The present records, each with its place in line, and the tombstones of removed ones. Owns both. Every write of a
 * record passes `add` and `change`, which call `written`.
 */
import {
  isDerived,
  isKnownFormat,
  limits,
  type MessageId,
  type MessageRecord,
} from "@posthaste/domain";

export type Rows = {
  /** In the order in which they were added. */
  readonly standing: ReadonlyMap<MessageId, MessageRecord>;
  /** Returns undefined for a record that this build does not understand. */
  readonly find: (id: MessageId) => MessageRecord | undefined;
  readonly add: (record: MessageRecord, place: number) => void;
  /** Does nothing when the record was removed. */
  readonly change: (id: MessageId, next: MessageRecord) => void;
  readonly remove: (id: MessageId) => void;
  /** The records that have an alarm, in no order. */
  readonly armed: ReadonlyMap<MessageId, MessageRecord>;
  /** Returns the records whose alarm is due, in the order in which they were added. */
  readonly due: (at: number) => readonly MessageRecord[];
  /** Notes that a publish with the same deduplication id may make the record again, whatever happens to it. */
  readonly mayBeRepeated: (id: MessageId) => void;
  /** Leaves a tombstone if the id could be made again. */
  readonly bury: (id: MessageId) => void;
  readonly isBuried: (id: MessageId) => boolean;
  /** Returns the ids written or removed since the last call. */
  readonly takeTouched: () => readonly MessageId[];
};

/** `place` is the record's place in the line of its lane. */
export type Written = (
  record: MessageRecord,
  before: MessageRecord | undefined,
  place: number,
) => void;

type Row = { record: MessageRecord; readonly place: number };

export function modelRows(now: () => number, written: Written): Rows {
  const rows = new Map<MessageId, Row>();
  const standing = new Map<MessageId, MessageRecord>();
  const armed = new Map<MessageId, MessageRecord>();
  const tombstones = new Map<MessageId, number>();
  const repeatableUntil = new Map<MessageId, number>();
  let touched = new Set<MessageId>();

  const put = (row: Row, before: MessageRecord | undefined): void => {
    const { record, place } = row;
    const { id } = record.message;
    standing.set(id, record);
    if (record.wakeAt === undefined) armed.delete(id);
    else armed.set(id, record);
    touched.add(id);
    written(record, before, place);
  };

  const bury = (id: MessageId): void => {
    const until = isDerived(id) ? now() + limits.tombstoneMs : repeatableUntil.get(id);
    if (until !== undefined) tombstones.set(id, until);
  };

  return {
    standing,
    find: (id) => {
      const record = standing.get(id);
      return record && isKnownFormat(record.message) ? record : undefined;
    },
    add: (record, place) => {
      const row = { record, place };
      rows.set(record.message.id, row);
      put(row, undefined);
    },
    change: (id, next) => {
      const row = rows.get(id);
      if (!row) return;
      const before = row.record;
      row.record = next;
      put(row, before);
    },
    remove: (id) => {
      rows.delete(id);
      armed.delete(id);
      standing.delete(id);
      touched.add(id);
      bury(id);
    },
    armed,
    due: (at) => {
      const due: MessageRecord[] = [];
      for (const record of standing.values())
        if ((record.wakeAt ?? Infinity) <= at) due.push(record);
      return due;
    },
    mayBeRepeated: (id) => repeatableUntil.set(id, now() + limits.deduplicationPendingMsMax),
    bury,
    isBuried: (id) => (tombstones.get(id) ?? 0) > now(),
    takeTouched: () => {
      const ids = [...touched];
      touched = new Set();
      return ids;
    },
  };
}
