/**
 * Whole rows: the row of a plain message in `messages` holds its configuration and, once it is delivered, its log
 * (ADR 201). Such a message is written by three statements: its row, its body, and the row again at its end.
 *
 * (1) A whole row contains CREATED, and ACTIVE and DELIVERED if it was delivered by its first attempt, all within
 *     `ownLogMs` of the time of its position. So the log in the order of time reads the rows in the order of
 *     positions, that far ahead.
 * (2) Any other event (a retry, a failure, a cancellation, a later delivery) splits the row first: configuration and
 *     events get rows of their own, and the row is then like that of any other message.
 * (3) A delivered whole row stays for as long as its log. Its removal as a record removes its body only.
 */
import { type DatabaseSync } from "node:sqlite";
import { crc32 } from "node:zlib";
import {
  type AttemptFact,
  isDerived,
  isFinished,
  limits,
  type Message,
  type MessageRecord,
  originHash,
  positionOf,
  randomLength,
  sentBytes,
  type Settlement,
} from "@posthaste/domain";
import { type CountedEvent } from "../log/events.ts";
import { stepOf } from "../log/steps.ts";
import { type Address, timeOfPosition } from "./positions.ts";
import { configurationText } from "./configurations.ts";
import { columnsOf, stateCodes } from "./records.ts";

/** For use inside a write. */
export type WholeRows = {
  /** Returns the position that the record may have as a whole row. */
  readonly placeOf: (record: MessageRecord) => number | undefined;
  /** Returns false when there is a row at the position. */
  readonly put: (record: MessageRecord, position: number, tenant: number) => boolean;
  /** Ends the record of a whole row as delivered and returns the events, if there is nothing else to write. */
  readonly deliver: (
    settlement: Settlement,
    address: Address,
  ) => readonly CountedEvent[] | undefined;
  /** Gives configuration and events of a whole row rows of their own. Does nothing to other rows. */
  readonly split: (message: Message, position: number) => void;
};

export function openWholeRows(db: DatabaseSync): WholeRows {
  const put = db.prepare(`
    INSERT INTO messages (position, name, tenant, shard, origin, state, until, hints, wake_at, epoch, owner, retried,
      lease_losses, deferrals, outbox, format, body_bytes, created, crc, json)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?, ?) ON CONFLICT (position) DO NOTHING`);
  const deliver = db.prepare(`
    UPDATE messages SET state = ${stateCodes.delivered}, until = ?, hints = 0, owner = NULL, lease_losses = ?, deferrals = ?,
      wake_at = NULL, told = ? - created, answer_status = ?, answer_bytes = ?
    WHERE position = ? AND name = ? AND epoch = ? AND state = ${stateCodes.claimed} AND outbox = 0 AND retried = 0
      AND json IS NOT NULL`);
  const splitOff = [
    `INSERT OR REPLACE INTO configurations (position, crc, json)
       SELECT position, crc, json FROM messages WHERE position = ? AND json IS NOT NULL`,
    `INSERT OR IGNORE INTO events (tenant, at, message, step)
       SELECT tenant, created, position, ${stepOf(0, "CREATED")} FROM messages WHERE position = ?`,
    `INSERT OR IGNORE INTO events (tenant, at, message, step)
       SELECT tenant, created + told, position, ${stepOf(0, "ACTIVE")} FROM messages WHERE position = ? AND told IS NOT NULL`,
    `INSERT OR IGNORE INTO events (tenant, at, message, step, answer_status, answer_bytes)
       SELECT tenant, until, position, ${stepOf(0, "DELIVERED")}, answer_status, answer_bytes FROM messages
       WHERE position = ? AND told IS NOT NULL`,
    "UPDATE messages SET created = NULL, told = NULL, crc = NULL, json = NULL WHERE position = ?",
  ].map((sql) => db.prepare(sql));

  return {
    placeOf: ({ message, outbox, state }) => {
      const position = isPlain(message) ? positionOf(message.id) : undefined;
      if (position === undefined || outbox.length > 0 || isFinished(state)) return undefined;
      return isNear(position, message.createdAt) ? position : undefined;
    },
    put: ({ message, state, ...record }, position, tenant) => {
      const { code, until, hints, owner } = columnsOf(state);
      const json = configurationText(message);
      const { changes } = put.run(
        position,
        message.id.slice(-randomLength),
        tenant,
        message.shard,
        originHash(message.url),
        code,
        until,
        hints,
        record.wakeAt ?? null,
        record.epoch,
        owner,
        record.retried,
        record.leaseLosses,
        record.deferrals,
        message.format ?? 1,
        sentBytes(message),
        message.createdAt,
        crc32(json),
        json,
      );
      return changes > 0;
    },
    deliver: (settlement, { position, name }) => {
      const { message, epoch, leaseLosses, deferrals } = settlement;
      const fact = onlyDelivered(settlement);
      if (fact?.startedAt === undefined || !isPlain(message)) return undefined;
      const { answered, startedAt, endedAt } = fact;
      if (!isNear(position, startedAt) || !isNear(position, endedAt)) return undefined;
      const { changes } = deliver.run(
        endedAt, leaseLosses, deferrals, startedAt, answered?.status ?? null, answered?.bytes ?? null, position, name,
        epoch,
      ); // oxfmt-ignore
      if (changes === 0) return undefined;
      return [
        { at: startedAt, state: "ACTIVE" },
        { at: endedAt, state: "DELIVERED" },
      ];
    },
    split: (message, position) => {
      if (!isPlain(message)) return;
      const [configuration, ...rest] = splitOff;
      if (configuration?.run(position).changes) for (const each of rest) each.run(position);
    },
  };
}

const isNear = (position: number, at: number): boolean =>
  Math.abs(timeOfPosition(position) - at) <= limits.ownLogMs;

/** Reports whether the message has an id of its own and belongs to no line, run, group publish or callback of an attempt. */
const isPlain = (message: Message): boolean =>
  message.queue === undefined &&
  message.flow === undefined &&
  message.policy.flow === undefined &&
  message.policy.callback === undefined &&
  message.policy.failureCallback?.flow === undefined &&
  message.bodyOf === undefined &&
  message.turnOf === undefined &&
  message.run === undefined &&
  !isDerived(message.id);

/** Returns the fact of a delivery by the first attempt without any other consequence. */
function onlyDelivered({ append, next, retried }: Settlement): AttemptFact | undefined {
  const [fact] = append;
  if (append.length !== 1 || fact?.kind !== "fact" || next.kind !== "delivered") return undefined;
  return retried === 0 && fact.endedAt === next.endedAt ? fact : undefined;
}
