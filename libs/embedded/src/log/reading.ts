/**
 * Reads the log page by page. A list looks at events, four integers along an index; configurations and details are read only for events
 * that the filter may want.
 */
import { type DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type AttemptFact,
  type Configuration,
  type ListOrder,
  type LogEvent,
  type LogFilter,
  matchesLogged,
  type PageRequest,
  tellsFact,
} from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { unpack } from "../answers.ts";
import { integer, optionalBytes, type Row, stored, text } from "../database/rows.ts";
import { configurationFrom } from "../messages/configurations.ts";
import { bodyBytesShown } from "../query/body-bytes.ts";
import { type Chunk, type Looked, type Scan } from "../query/keyset.ts";

import { attemptOf, stateOf } from "./steps.ts";

type Asked = {
  readonly tenant: number;
  readonly filter: LogFilter;
  /** The positions of the messages asked for, or undefined for all. */
  readonly positions: readonly number[] | undefined;
  readonly page: PageRequest;
};

/** The key of an event; keys sort in the order of the list. */
type Key = readonly [at: number, message: number, step: number];

const positionOf = (key: Key): string => key.join(".");

/** Rows read per message when few messages are asked for. */
const rowsPerMessageMin = 8;

export function openLogReading(reader: DatabaseSync): {
  readonly scan: (asked: Asked) => Omit<Scan<Key, LogEntry>, "breathe">;
} {
  const earliestFirst = openEvents(reader, { behind: ">", before: "<=", direction: "" });
  const latestFirst = openEvents(reader, { behind: "<", before: ">=", direction: "DESC" });
  const events: Readonly<Record<ListOrder, EventStatements>> = { earliestFirst, latestFirst };
  const lookOf = openLook(reader);

  const rowsOf =
    ({ tenant, filter, positions, page: { order } }: Asked) =>
    (after: string | undefined, limit: number): Chunk<Key> => {
      const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter;
      const isUp = order === "earliestFirst";
      const start: Key = isUp ? [from, -1, -1] : [to, ...lastKey];
      const range = [...(after === undefined ? start : parseKey(after)), isUp ? to : from] as const;
      const { ofAll, ofOne } = events[order];
      if (positions === undefined) {
        const rows = ofAll.all(tenant, ...range, limit).map(keyFrom);
        return { rows, isLast: rows.length < limit };
      }
      const each = Math.max(rowsPerMessageMin, Math.ceil(limit / Math.max(1, positions.length)));
      const lists = positions.map((p) => ofOne.all(tenant, ...range, each, p).map(keyFrom));
      return merge(lists, each, isUp ? compare : (a, b) => compare(b, a));
    };

  return {
    scan: (asked) => ({ rows: rowsOf(asked), keyOf: positionOf, look: lookOf(asked) }),
  };
}

type EventStatements = { readonly ofAll: StatementSync; readonly ofOne: StatementSync };

/** Statements with the parameters tenant, key to begin behind, end, limit and, for `ofOne`, the message. */
function openEvents(
  reader: DatabaseSync,
  { behind, before, direction }: { behind: string; before: string; direction: string },
): EventStatements {
  const sql = (from: string, ofMessage: string): string => `
    SELECT at, message, step FROM ${from}
    WHERE tenant = ?1 ${ofMessage} AND (at, message, step) ${behind} (?2, ?3, ?4) AND at ${before} ?5
    ORDER BY at ${direction}, message ${direction}, step ${direction} LIMIT ?6`;
  return {
    ofAll: reader.prepare(sql("events", "")),
    ofOne: reader.prepare(sql("events INDEXED BY events_by_message", "AND message = ?7")),
  };
}

/** Merges the lists up to the point that all of them reach: behind the end of a full list there may be more. */
function merge(
  lists: readonly (readonly Key[])[],
  each: number,
  inOrder: (a: Key, b: Key) => number,
): Chunk<Key> {
  const ends = lists.flatMap((list) => (list.length < each ? [] : list.slice(-1)));
  const end = ends.toSorted(inOrder)[0];
  const rows = lists.flat().sort(inOrder);
  if (!end) return { rows, isLast: true };
  return { rows: rows.filter((row) => inOrder(row, end) <= 0), isLast: false };
}

const compare = (a: Key, b: Key): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** Reads what belongs to an event: the configuration of its message and, for a failed attempt, the fact. */
function openLook(reader: DatabaseSync): (asked: Asked) => (key: Key) => Looked<LogEntry> {
  const configuration = reader.prepare("SELECT json, crc FROM configurations WHERE position = ?");
  const details = reader.prepare(`
    SELECT json, CASE WHEN ?3 = 0 THEN NULL ELSE substr(response, 1, ?3) END AS response
    FROM details WHERE message = ?1 AND attempt = ?2`);

  return ({ filter, page }) => {
    // Events of one message mostly stand together.
    let last:
      | { readonly message: number; readonly found: Configuration; readonly bytes: number }
      | undefined;

    const entryOf = (message: Configuration, event: LogEvent, key: Key): Looked<LogEntry> => {
      const [, position] = key;
      const row = tellsFact(event.state)
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

    return (key) => {
      const [at, message, step] = key;
      const event = { at, attempt: attemptOf(step), state: stateOf(step) };
      // Checked before the configuration is read.
      if (filter.states && !filter.states.includes(event.state)) return { bytes: 0 };
      let bytes = 0;
      if (last?.message !== message) {
        const row = configuration.get(message);
        // Swept since its event was read.
        if (!row) return { bytes };
        bytes = text(row["json"]).length;
        last = { message, found: configurationFrom(row), bytes };
      }
      const { found } = last;
      if (!matchesLogged(filter, event, found)) return { bytes };
      const entry = entryOf(found, event, key);
      return { ...entry, bytes: bytes + entry.bytes, size: last.bytes + entry.bytes };
    };
  };
}

const lastKey = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const;

const keyFrom = (row: Row): Key => [
  integer(row["at"]),
  integer(row["message"]),
  integer(row["step"]),
];

function parseKey(key: string): Key {
  const [at, message, step, ...more] = key.split(".").map(Number);
  if (at === undefined || message === undefined || step === undefined || more.length > 0)
    throw new Error(`no position in the log: ${key}`);
  if (![at, message, step].every(Number.isSafeInteger))
    throw new Error(`no position in the log: ${key}`);
  return [at, message, step];
}
