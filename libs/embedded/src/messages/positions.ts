/**
 * Positions are the keys of messages, each given once and growing with time. A random id holds its row's position and
 * is checked by its tail; a derived id has a row in `names`, which stays as its tombstone for 24 h
 * (docs/design/record#removal).
 */
import { type DatabaseSync } from "node:sqlite";
import {
  limits,
  messageId,
  type MessageId,
  positionOf,
  randomLength,
  randomMessageId,
} from "@posthaste/domain";
import { type Clock, type Ids, type Random } from "@posthaste/ports";
import { integer } from "../database/rows.ts";

export type Positions = {
  /** Reserves `count` positions in a row, by default one, and returns the first. */
  next(count?: number): number;
};

/** 2024-01-01T00:00:00Z. Milliseconds since then, times 4096, keep positions in the order of time and far below 2^53 for centuries. */
const epochMs = 1_704_067_200_000;
const positionsPerMs = 4_096;

/** Returns the first position of a millisecond. */
export const positionAt = (time: number): number => Math.max(0, time - epochMs) * positionsPerMs;
/** Returns the millisecond of a position. */
export const timeOfPosition = (position: number): number =>
  epochMs + Math.floor(position / positionsPerMs);

export function openPositions(clock: Clock, lastGiven: number): Positions {
  let last = lastGiven;
  return {
    next: (count = 1) => {
      const first = Math.max(last + 1, positionAt(clock.now()));
      last = first + count - 1;
      return first;
    },
  };
}

export function openIds(positions: Positions, random: Random): Ids {
  return {
    next: (): MessageId => randomMessageId(positions.next(), random.text(randomLength)),
    positionAt,
  };
}

/** `name` is the part of the id in the hot row: the tail of a random id, or a whole derived id after a `=`. */
export type Address = { readonly position: number; readonly name: string };

export type Names = {
  /** Returns the address of the record, if it exists. */
  find(id: MessageId): Address | undefined;
  /**
   * Returns the address for a new record, or undefined when the record or its tombstone exists. `reserved` is the
   * position kept for a derived id. For use inside a write.
   */
  take(id: MessageId, now: number, reserved?: number): Address | undefined;
  /** Returns the address of a message that may have no record here. For use inside a write. */
  note(id: MessageId): Address;
  /** Turns the names of the removed `positions` (a JSON array) into tombstones; random ids have none. For use inside a write. */
  bury(positions: string, now: number): void;
  /** Returns how many tombstones have ended. For use inside a write. */
  sweep(now: number, limit: number): number;
};

export const idOf = ({ position, name }: Address): MessageId =>
  name.startsWith("=") ? messageId(name.slice(1)) : randomMessageId(position, name);

/** Returns the address of a random id, which contains its position. */
export const ownAddress = (id: MessageId, position: number): Address => ({
  position,
  name: id.slice(-randomLength),
});

export function openNames(db: DatabaseSync, positions: Positions): Names {
  const select = db.prepare("SELECT position, expires_at FROM names WHERE id = ?");
  // One statement reads and writes, since each delivery of a run and each callback has a derived id.
  const claim = db.prepare(`
    INSERT INTO names (id, position) VALUES (?, ?)
    ON CONFLICT (id) DO UPDATE SET position = excluded.position, expires_at = NULL
    WHERE coalesce(names.expires_at, 0) <= ?
      AND NOT EXISTS (SELECT 1 FROM messages m WHERE m.position = names.position)
      AND NOT EXISTS (SELECT 1 FROM fan_outs f WHERE f.position = names.position)`);
  const put = db.prepare("INSERT INTO names (id, position) VALUES (?, ?)");
  const bury = db.prepare(
    "UPDATE names SET expires_at = ? WHERE position IN (SELECT value FROM json_each(?))",
  );
  const expire = db.prepare(`
    UPDATE names SET expires_at = NULL WHERE id IN (
      SELECT id FROM names WHERE expires_at <= ?
        AND EXISTS (SELECT 1 FROM configurations c WHERE c.position = names.position) LIMIT ?)`);
  const forget = db.prepare(`
    DELETE FROM names WHERE id IN (
      SELECT id FROM names WHERE expires_at <= ?
        AND NOT EXISTS (SELECT 1 FROM configurations c WHERE c.position = names.position) LIMIT ?)`);

  const find = (id: MessageId): Address | undefined => {
    const position = positionOf(id);
    if (position !== undefined) return ownAddress(id, position);
    const row = select.get(id);
    return row && { position: integer(row["position"]), name: `=${id}` };
  };
  const take = (id: MessageId, now: number, reserved?: number): Address | undefined => {
    const position = positionOf(id);
    if (position !== undefined) return ownAddress(id, position);
    const address = { position: reserved ?? positions.next(), name: `=${id}` };
    return claim.run(id, address.position, now).changes > 0 ? address : undefined;
  };
  const note = (id: MessageId): Address => {
    const known = find(id);
    if (known) return known;
    const address = { position: positions.next(), name: `=${id}` };
    put.run(id, address.position);
    return address;
  };
  return {
    find,
    take,
    note,
    bury: (gone, now) => void bury.run(now + limits.tombstoneMs, gone),
    sweep: (now, limit) =>
      Number(expire.run(now, limit).changes) + Number(forget.run(now, limit).changes),
  };
}
