/**
 * Reads the log page by page: merges the events of whole rows with events that have rows of their own. A list looks
 * at events, a few integers along an index; configurations and details are read only for events that the filter may
 * want.
 */
import { type DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type AttemptFact,
  type Configuration,
  type ListOrder,
  type LogEvent,
  type LogFilter,
  matchesLogged,
  ownStates,
  type PageRequest,
  tellsFact,
} from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { unpack } from "../answers.ts";
import { optionalBytes, stored, text } from "../database/rows.ts";
import { configurationFrom } from "../messages/configurations.ts";
import { type Chunk, type Looked, type Scan, bodyBytesShown, inPieces } from "../query/keyset.ts";
import { compare, type Key, keyAt, parseKey, textOf, type Told, toldFrom } from "./keys.ts";
import { openOwnWalk, ownColumns, ownEvents, type OwnWalk } from "./own.ts";
import { attemptOf, stateOf } from "./steps.ts";

type Asked = {
  readonly tenant: number;
  readonly filter: LogFilter;
  /** The positions of the messages asked for, or undefined for all. */
  readonly positions: readonly number[] | undefined;
  readonly page: PageRequest;
};

/** Events of one message: the first of its rows of events, and the events of its whole row. */
type OfMessage = { readonly list: readonly Told[]; readonly own: readonly Told[] };

/** Rows read per message when few messages are asked for. */
const rowsPerMessageMin = 8;

export function openLogReading(reader: DatabaseSync): {
  readonly scan: (asked: Asked) => Omit<Scan<Told, LogEntry>, "breathe">;
} {
  const ofOrder = (order: ListOrder) => ({
    statements: openEvents(reader, order),
    ownWalk: openOwnWalk(reader, order),
  });
  const orders = {
    earliestFirst: ofOrder("earliestFirst"),
    latestFirst: ofOrder("latestFirst"),
  } satisfies Record<ListOrder, unknown>;
  const ownRow = reader.prepare(`
    SELECT ${ownColumns} FROM messages WHERE position = ? AND tenant = ? AND json IS NOT NULL`);
  const lookOf = openLook(reader);

  const rowsOf = ({
    tenant,
    filter,
    positions,
    page: { order },
  }: Asked): Scan<Told, never>["rows"] => {
    const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter;
    const isUp = order === "earliestFirst";
    const [start, end] = isUp ? [from, to] : [to, from];
    const inOrder = isUp ? compare : (a: Told, b: Told) => compare(b, a);
    const { statements, ownWalk } = orders[order];
    const first = (after: string | undefined): Key =>
      after === undefined ? keyAt(start, isUp) : parseKey(after);

    if (positions === undefined) {
      const all = (behind: Key, limit: number) =>
        statements.ofAll.all(tenant, ...behind, end, limit).map(toldFrom);
      const walkFrom = (behind: Key) =>
        mayBeOwn(filter) ? ownWalk(tenant, behind, end) : undefined;
      return mergedInto(all, walkFrom, { first, inOrder });
    }
    let pieces: (() => readonly OfMessage[] | undefined) | undefined;
    return (after, limit) => {
      const behind = first(after);
      const each = Math.max(rowsPerMessageMin, Math.ceil(limit / Math.max(1, positions.length)));
      const isWanted = (key: Told): boolean =>
        inOrder(key, behind) > 0 && (isUp ? key[0] <= end : key[0] >= end);
      pieces ??= inPieces(positions, (p) => ({
        list: statements.ofOne.all(tenant, ...behind, end, each, p).map(toldFrom),
        own: ownRow.all(p, tenant).flatMap(ownEvents).filter(isWanted),
      }));
      const found = pieces();
      if (!found) return { rows: [], isLast: false };
      pieces = undefined;
      return merge(found, each, inOrder);
    };
  };

  return {
    scan: (asked) => ({ rows: rowsOf(asked), keyOf: textOf, look: lookOf(asked) }),
  };
}

/** Reports whether whole rows may have events that the filter wants. */
const mayBeOwn = ({ states }: LogFilter): boolean =>
  states === undefined || states.some((state) => ownStates.includes(state));

/**
 * Returns a reading of both sources in order, chunk by chunk. The walk continues from chunk to chunk, by one of its
 * readings at most, and a chunk ends where the walk is short. Events are read anew for each chunk, since a row that
 * is split meanwhile leaves its events there.
 */
function mergedInto(
  all: (behind: Key, limit: number) => readonly Told[],
  walkFrom: (behind: Key) => OwnWalk | undefined,
  {
    first,
    inOrder,
  }: {
    readonly first: (after: string | undefined) => Key;
    readonly inOrder: (a: Told, b: Told) => number;
  },
): Scan<Told, never>["rows"] {
  let walk: { readonly own: OwnWalk | undefined } | undefined;
  return (after, limit) => {
    const behind = first(after);
    const { own } = (walk ??= { own: walkFrom(behind) });
    if (own?.isShort()) own.readOn();
    if (own?.isShort()) return { rows: [], isLast: false };
    const events = all(behind, limit);
    const isWhole = events.length < limit;
    const rows: Told[] = [];
    for (let next = 0; rows.length < limit && !own?.isShort();) {
      const [event, told] = [events[next], own?.first()];
      // More events may follow the last one that was read.
      if (event === undefined && (told === undefined || !isWhole)) return { rows, isLast: isWhole };
      const order = event && told ? inOrder(event, told) : event ? -1 : 1;
      if (order <= 0) next++;
      if (order >= 0) own?.pass();
      const key = order <= 0 ? event : told;
      if (key) rows.push(key);
    }
    return { rows, isLast: false };
  };
}

type EventStatements = { readonly ofAll: StatementSync; readonly ofOne: StatementSync };

/** Statements with the parameters tenant, key to begin behind, end, limit and, for `ofOne`, the message. */
function openEvents(reader: DatabaseSync, order: ListOrder): EventStatements {
  const isUp = order === "earliestFirst";
  const [behind, before, direction] = isUp ? [">", "<=", ""] : ["<", ">=", "DESC"];
  const sql = (from: string, ofMessage: string): string => `
    SELECT at, message, step, answer_status, answer_bytes FROM ${from}
    WHERE tenant = ?1 ${ofMessage} AND (at, message, step) ${behind} (?2, ?3, ?4) AND at ${before} ?5
    ORDER BY at ${direction}, message ${direction}, step ${direction} LIMIT ?6`;
  return {
    ofAll: reader.prepare(sql("events", "")),
    ofOne: reader.prepare(sql("events INDEXED BY events_by_message", "AND message = ?7")),
  };
}

/** Merges the lists, and the events of whole rows, up to the point that all lists reach: after the end of a full list there may be more. */
function merge(
  found: readonly OfMessage[],
  each: number,
  inOrder: (a: Told, b: Told) => number,
): Chunk<Told> {
  const ends = found.flatMap(({ list }) => (list.length < each ? [] : list.slice(-1)));
  const end = ends.toSorted(inOrder)[0];
  const rows = found.flatMap(({ list, own }) => [...list, ...own]).sort(inOrder);
  if (!end) return { rows, isLast: true };
  return { rows: rows.filter((row) => inOrder(row, end) <= 0), isLast: false };
}

/** Reads what belongs to an event: the configuration of its message and, for a failed attempt, the fact. */
function openLook(reader: DatabaseSync): (asked: Asked) => (told: Told) => Looked<LogEntry> {
  const ofRow = reader.prepare(
    "SELECT json, crc FROM messages WHERE position = ? AND json IS NOT NULL",
  );
  const ofOthers = reader.prepare("SELECT json, crc FROM configurations WHERE position = ?");
  const details = reader.prepare(`
    SELECT json, CASE WHEN ?3 = 0 THEN NULL ELSE substr(response, 1, ?3) END AS response
    FROM details WHERE message = ?1 AND attempt = ?2`);

  return ({ filter, page }) => {
    // Events of one message are mostly next to each other.
    let last:
      | { readonly message: number; readonly found: Configuration; readonly bytes: number }
      | undefined;

    const entryOf = (
      message: Configuration,
      event: LogEvent,
      position: number,
    ): Looked<LogEntry> => {
      const row = tellsFact[event.state]
        ? details.get(position, event.attempt, bodyBytesShown(page, message))
        : undefined;
      if (!row) return { item: { event, message }, bytes: 0 };
      const response = optionalBytes(row["response"] ?? null);
      const json = text(row["json"]);
      return {
        item: { event, message, fact: unpack(stored<AttemptFact>(json), response) },
        bytes: json.length + (response?.length ?? 0),
      };
    };

    return ([at, message, step, answered]) => {
      const attempt = attemptOf(step);
      const event = { at, attempt, state: stateOf(step), ...(answered && { answered }) };
      // Checked before the configuration is read.
      if (filter.states && !filter.states.includes(event.state)) return { bytes: 0 };
      let bytes = 0;
      if (last?.message !== message) {
        const row = ofRow.get(message) ?? ofOthers.get(message);
        // The row was swept after its event was read.
        if (!row) return { bytes };
        bytes = text(row["json"]).length;
        last = { message, found: configurationFrom(row), bytes };
      }
      const { found } = last;
      if (!matchesLogged(filter, event, found)) return { bytes };
      const entry = entryOf(found, event, message);
      return { ...entry, bytes: bytes + entry.bytes, size: last.bytes + entry.bytes };
    };
  };
}
