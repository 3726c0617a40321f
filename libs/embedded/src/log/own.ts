/** Reads and sweeps the events of whole rows (messages/whole.ts). */
import { type DatabaseSync } from "node:sqlite";
import { cutOff, limits, type ListOrder } from "@posthaste/domain";
import { integer, optionalInteger, type Row } from "../database/rows.ts";
import { positionAt, timeOfPosition } from "../messages/positions.ts";
import { createHeap } from "../query/heap.ts";
import { answeredFrom, compare, type Key, type Told } from "./keys.ts";
import { stepOf } from "./steps.ts";
import { type Clock } from "@posthaste/ports";
import { type Finished } from "../messages/in-memory.ts";

export const ownColumns = "position, created, told, until, answer_status, answer_bytes";
const ofTenant = "messages INDEXED BY messages_logged WHERE tenant = ? AND json IS NOT NULL";

/** Returns the events of a whole row, oldest first. */
export function ownEvents(row: Row): readonly Told[] {
  const [position, created] = [integer(row["position"]), integer(row["created"])];
  const told = optionalInteger(row["told"] ?? null);
  const first: Key = [created, position, stepOf(0, "CREATED")];
  if (told === undefined) return [first];
  return [
    first,
    [created + told, position, stepOf(0, "ACTIVE")],
    [integer(row["until"]), position, stepOf(0, "DELIVERED"), answeredFrom(row)],
  ];
}

/** A walk through the events in the order of the list, from a key up to a time. */
export type OwnWalk = {
  /** Reports whether rows have to be read before the next event is known. */
  readonly isShort: () => boolean;
  /** Reads some of these rows. */
  readonly readOn: () => void;
  /** Returns the next event without passing it; undefined at the end, and while the walk is short. */
  readonly first: () => Told | undefined;
  readonly pass: () => void;
};

const rowsPerRead = 100;

/**
 * Opens walks over the events of a tenant. A whole row has events within `ownLogMs` of its position, so the events
 * before the frontier of the rows read so far are complete. Before the first event as many rows may have to be read
 * as were published in that time.
 */
export function openOwnWalk(
  reader: DatabaseSync,
  order: ListOrder,
): (tenant: number, behind: Key, end: number) => OwnWalk {
  const isUp = order === "earliestFirst";
  const read = reader.prepare(`
    SELECT ${ownColumns} FROM ${ofTenant} AND position ${isUp ? ">" : "<"} ?
    ORDER BY position ${isUp ? "" : "DESC"} LIMIT ${rowsPerRead}`);
  const inOrder = isUp ? compare : (a: Told, b: Told) => compare(b, a);
  const ahead = isUp ? limits.ownLogMs : -limits.ownLogMs;

  return (tenant, behind, end) => {
    const waiting = createHeap(inOrder);
    let from = isUp
      ? positionAt(behind[0] - limits.ownLogMs) - 1
      : positionAt(Math.min(behind[0], timesMax) + limits.ownLogMs + 1);
    let reached = isUp ? -Infinity : Infinity;
    let isEnd = false;
    const isWanted = (key: Told): boolean =>
      inOrder(key, behind) > 0 && (isUp ? key[0] <= end : key[0] >= end);
    const first = (): Told | undefined => {
      const told = waiting.first();
      const isKnown = isEnd || (told && (isUp ? told[0] < reached : told[0] > reached));
      return isKnown ? told : undefined;
    };

    return {
      isShort: () => !isEnd && first() === undefined,
      readOn: () => {
        const rows = read.all(tenant, from);
        for (const told of rows.flatMap(ownEvents)) if (isWanted(told)) waiting.push(told);
        const last = rows.at(-1);
        if (last) reached = timeOfPosition((from = integer(last["position"]))) - ahead;
        isEnd = rows.length < rowsPerRead || (isUp ? reached > end : reached < end);
      },
      first,
      pass: () => waiting.shift(),
    };
  };
}

/** A time beyond all others that keeps positions exact. */
const timesMax = timeOfPosition(2 ** 52);

export type OwnSweep = {
  /** Reports whether rows are to be looked at, without a write. */
  readonly isDue: (tenant: number, before: number) => boolean;
  /** Returns the positions of delivered rows whose events are older than `before`, out of the next `limit` rows. For use inside a write. */
  readonly next: (tenant: number, before: number, limit: number) => readonly number[];
};

/**
 * Goes through the rows of a tenant once, from the oldest. A row that is passed while it is a record is not looked at
 * again: it is delivered too late to be its own log, and so is split.
 */
export function openOwnSweep(db: DatabaseSync, clock: Clock, finished: Finished): OwnSweep {
  const read = db.prepare(`
    SELECT ${ownColumns} FROM ${ofTenant} AND position > ? AND position < ? ORDER BY position LIMIT ?`);
  const passedUpTo = new Map<number, number>();
  const rowsOf = (tenant: number, before: number, limit: number): readonly Row[] =>
    read.all(tenant, passedUpTo.get(tenant) ?? 0, positionAt(before), limit);
  return {
    isDue: (tenant, before) => {
      const [first] = rowsOf(tenant, before, 1);
      return (
        first !== undefined && (isOldRow(first, before, finished) || isLate(first, clock.now()))
      );
    },
    next: (tenant, before, limit) => {
      const gone: number[] = [];
      for (const row of rowsOf(tenant, before, limit)) {
        const isGone = isOldRow(row, before, finished);
        if (!isGone && !isLate(row, clock.now())) break;
        const position = integer(row["position"]);
        if (isGone) gone.push(position);
        else passedUpTo.set(tenant, position);
      }
      return gone;
    },
  };
}

/** Reports whether a row is the log of a delivery before `before`, and no record any more. */
export const isOldRow = (row: Row, before: number, { standsWhole }: Finished): boolean =>
  row["told"] !== null && integer(row["until"]) < before && !standsWhole(integer(row["position"]));

/** Reports whether a row is a record that will be delivered too late to be its own log. */
export const isLate = (row: Row, now: number): boolean =>
  row["told"] === null &&
  timeOfPosition(integer(row["position"])) < cutOff(2 * limits.ownLogMs, now);
