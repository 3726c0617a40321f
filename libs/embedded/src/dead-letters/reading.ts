/** Reads dead letters, one or page by page. A list looks at ids along their index; an id begins with the time of failure. */
import { type DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type Answer,
  type Configuration,
  type DeadLetter,
  type DeadLetterFilter,
  dlqId,
  type DlqId,
  type FailureReason,
  failureReasons,
  type ListOrder,
  matchesLetter,
  type PageRequest,
} from "@posthaste/domain";
import { integer, optionalBytes, optionalText, type Row, stored, text } from "../database/rows.ts";
import { configurationFrom, withBody } from "../messages/configurations.ts";
import { type Chunk, type Looked, type Scan, bodyBytesShown, inPieces } from "../query/keyset.ts";

type Asked = {
  readonly tenant: number;
  readonly filter: DeadLetterFilter;
  readonly page: PageRequest;
  /** The positions of the messages asked for, or undefined for all. */
  readonly positions: readonly number[] | undefined;
};

export type LetterReading = {
  readonly one: (tenant: number, id: DlqId) => DeadLetter | undefined;
  readonly scan: (asked: Asked) => Omit<Scan<DlqId, DeadLetter>, "breathe">;
};

/** A message becomes a dead letter once. The bound also covers a message that has failed here several times. */
const lettersPerMessageMax = 100;

export function openLetterReading(reader: DatabaseSync): LetterReading {
  const head = reader.prepare(`
    SELECT l.id, l.failed_at, l.reason, l.retried, l.error, l.answer, l.body_of, l.key, c.json, c.crc
    FROM dead_letters l JOIN configurations c ON c.position = l.message WHERE l.tenant = ? AND l.id = ?`);
  const bodies = reader.prepare(`
    SELECT substr(l.response, 1, ?2) AS response, substr(b.bytes, 1, ?2) AS bytes, length(b.bytes) AS body_bytes,
      b.crc AS body_crc, coalesce(length(b.bytes), 0) + coalesce(length(l.response), 0) AS bytes_read
    FROM dead_letters l LEFT JOIN bodies b ON b.position = l.body_of WHERE l.key = ?1`);
  const page = (behind: string, direction: string): StatementSync =>
    reader.prepare(`
      SELECT id FROM dead_letters WHERE tenant = ?1 AND id ${behind} ?2 AND id BETWEEN ?3 AND ?4
      ORDER BY id ${direction} LIMIT ?5`);
  const pages: Readonly<Record<ListOrder, StatementSync>> = {
    earliestFirst: page(">", ""),
    latestFirst: page("<", "DESC"),
  };
  const ofMessage = reader.prepare(`
    SELECT id FROM dead_letters INDEXED BY dead_letters_by_message WHERE message = ? AND tenant = ?
    LIMIT ${lettersPerMessageMax}`);

  /** Returns a reading of the ids that the filter names: undefined while more are to be read. */
  const named = ({ tenant, filter: { ids }, positions }: Asked) => {
    if (ids) return () => ids;
    const read = positions && inPieces(positions, (p) => ofMessage.all(p, tenant).map(idFrom));
    return read && (() => read()?.flat());
  };

  const rowsOf = (asked: Asked): ((after: string | undefined, limit: number) => Chunk<DlqId>) => {
    const {
      tenant,
      filter,
      page: { order },
    } = asked;
    const isUp = order === "earliestFirst";
    const namedIds = named(asked);
    const [first, last] = idsBetween(filter);
    return (after = isUp ? "" : afterAll, limit) => {
      if (namedIds) {
        const ids = namedIds();
        if (!ids) return { rows: [], isLast: false };
        const isBehind = (id: DlqId): boolean => (isUp ? id > after : id < after);
        return { rows: sortedOnce(ids.filter(isBehind), isUp), isLast: true };
      }
      const rows = pages[order].all(tenant, after, first, last, limit).map(idFrom);
      return { rows, isLast: rows.length < limit };
    };
  };

  const whole = (row: Row, message: Configuration, bytesMax: number): Looked<DeadLetter> => {
    const of = bytesMax === 0 ? {} : (bodies.get(integer(row["key"]), bytesMax) ?? {});
    const item = letterFrom(row, message, of);
    return { item, bytes: integer(of["bytes_read"] ?? 0), held: heldBytes(item) };
  };

  return {
    one: (tenant, id) => {
      const row = head.get(tenant, id);
      return row && whole(row, configurationFrom(row), Number.MAX_SAFE_INTEGER).item;
    },
    scan: (asked) => ({
      rows: rowsOf(asked),
      keyOf: (id) => id,
      look: (id) => {
        const row = head.get(asked.tenant, id);
        // Named but not stored, or removed since its id was read.
        if (!row) return { bytes: 0 };
        const bytes = text(row["json"]).length + (optionalText(row["answer"] ?? null)?.length ?? 0);
        const message = configurationFrom(row);
        if (!wants(asked.filter, row, message)) return { bytes };
        const found = whole(row, message, bodyBytesShown(asked.page, message));
        return { ...found, bytes: bytes + found.bytes };
      },
    }),
  };
}

function sortedOnce(ids: readonly DlqId[], isUp: boolean): readonly DlqId[] {
  const sorted = [...new Set(ids)].sort();
  return isUp ? sorted : sorted.reverse();
}

const heldBytes = ({ message, response }: DeadLetter): number =>
  message.body.length + (response?.body.length ?? 0);

const idFrom = (row: Row): DlqId => dlqId(text(row["id"]));

/** Sorts after all ids, which begin with digits. */
const afterAll = "~";
/** Reports whether ids sort by this time: from 2001 to 2286, times have the same number of digits. */
const sortsAsTime = (at: number): boolean => at >= 1_000_000_000_000 && at < 10_000_000_000_000;

/** Returns the range of ids of failures between two times. Times by which ids do not sort are compared row by row (`wants`). */
function idsBetween({ from, to }: DeadLetterFilter): readonly [string, string] {
  return [
    from !== undefined && sortsAsTime(from) ? String(from) : "",
    to !== undefined && sortsAsTime(to) ? `${to}${afterAll}` : afterAll,
  ];
}

/** Returns where ids of failures at `at` begin, or the end of all ids where ids do not sort by `at`. */
export const firstIdAt = (at: number): string => (sortsAsTime(at) ? String(at) : afterAll);

const wants = (filter: DeadLetterFilter, row: Row, message: Configuration): boolean =>
  matchesLetter(filter, {
    id: idFrom(row),
    failedAt: integer(row["failed_at"]),
    message,
    response: filter.responseStatuses && headOf(row),
  });

type Head = Omit<Answer, "body">;
const headOf = (row: Row): Head | undefined => {
  const json = optionalText(row["answer"] ?? null);
  return json === undefined ? undefined : stored<Head>(json);
};

function letterFrom(row: Row, message: Configuration, bodies: Row): DeadLetter {
  const error = optionalText(row["error"] ?? null);
  const head = headOf(row);
  return {
    id: dlqId(text(row["id"])),
    failedAt: integer(row["failed_at"]),
    reason: reasonFrom(text(row["reason"])),
    message: withBody(message, bodies),
    retried: integer(row["retried"]),
    ...(error !== undefined && { error }),
    ...(head && {
      response: { ...head, body: optionalBytes(bodies["response"] ?? null) ?? new Uint8Array(0) },
    }),
  };
}

function reasonFrom(value: string): FailureReason {
  const reason = failureReasons.find((known) => known === value);
  if (!reason) throw new Error(`unknown reason ${value} of a dead letter in the store`);
  return reason;
}
