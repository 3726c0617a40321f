/** The DeadLetters port. Settle writes its letters itself (letters.ts). */
import { type DatabaseSync, type StatementSync } from "node:sqlite";
import {
  type Answer,
  type DeadLetter,
  type DeadLetterFilter,
  dlqId,
  type DlqId,
  type FailureReason,
  type ListOrder,
  type PageRequest,
  type TenantId,
} from "@posthaste/domain";
import { type DeadLetters } from "@posthaste/ports";
import { type Archive } from "./archive.ts";
import { integer, optionalBytes, optionalText, type Row, stored, text } from "./database/rows.ts";
import { configurationFrom, messageColumns, messageFrom } from "./messages/configurations.ts";
import { type Rooms } from "./messages/rooms.ts";
import { readPage } from "./query/keyset.ts";
import { among, matchesMessage } from "./query/matches.ts";

const removedPerCommitMax = 200;

export function openDeadLetters(
  rooms: Rooms,
  archive: Archive,
  reader: DatabaseSync,
  breathe: () => Promise<void>,
): DeadLetters {
  const { db, writer, tenants, letters, configurations } = rooms;
  const select = openSelect(reader);
  const remove = db.prepare(
    "DELETE FROM dead_letters WHERE tenant = ? AND id = ? RETURNING message, body_of",
  );
  const removeOld = db.prepare(`
    DELETE FROM dead_letters WHERE key IN (SELECT key FROM dead_letters WHERE failed_at < ? ORDER BY failed_at LIMIT ?)
    RETURNING message, body_of`);

  const dropOrphans = (removed: readonly Row[]): number => {
    const positions = removed.flatMap((row) => [integer(row["message"]), integer(row["body_of"])]);
    if (positions.length > 0) configurations.removeOrphans(JSON.stringify([...new Set(positions)]));
    return removed.length;
  };

  return {
    insert: (given) =>
      writer.write(() => {
        for (const letter of given) {
          letters.put(
            tenants.take(letter.message.tenant),
            archive.placeWhole(letter.message),
            letter,
          );
        }
      }),
    get: async (tenantId, id) => {
      const tenant = tenants.find(tenantId);
      return tenant === undefined ? undefined : select.one(tenant, id);
    },
    list: async (tenantId: TenantId, filter: DeadLetterFilter, page: PageRequest) => {
      const tenant = tenants.find(tenantId);
      if (tenant === undefined) return { items: [] };
      const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter;
      const rows = (after: string | undefined, limit: number): readonly Row[] =>
        select.pages[page.order].all(tenant, after ?? null, from, to, limit);
      const itemOf = (row: Row): DeadLetter | undefined => {
        const id = dlqId(text(row["id"]));
        return wants(filter, row, id) ? select.one(tenant, id) : undefined;
      };
      return readPage({ rows, keyOf: (row) => text(row["id"]), itemOf, breathe }, page);
    },
    remove: async (tenantId, ids) => {
      const tenant = tenants.find(tenantId);
      if (tenant === undefined) return 0;
      return writer.write(() => dropOrphans(ids.flatMap((id) => remove.all(tenant, id))));
    },
    sweep: async (before, limit) => {
      let swept = 0;
      // Ends when nothing is old enough, or at `limit`.
      while (swept < limit) {
        const portion = Math.min(limit - swept, removedPerCommitMax);
        const n = await writer.write(() => dropOrphans(removeOld.all(before, portion)));
        swept += n;
        if (n < portion) break;
      }
      return swept;
    },
  };
}

type Select = {
  readonly one: (tenant: number, id: DlqId) => DeadLetter | undefined;
  /** Of (tenant, after or null, from, to, limit): bodies and answers are read for what goes into the page only. */
  readonly pages: Readonly<Record<ListOrder, StatementSync>>;
};

function openSelect(reader: DatabaseSync): Select {
  const one = reader.prepare(`
    SELECT l.*, ${messageColumns} FROM dead_letters l
    JOIN configurations c ON c.position = l.message LEFT JOIN bodies b ON b.position = l.body_of
    WHERE l.tenant = ? AND l.id = ?`);
  const page = (behind: string, direction: string): StatementSync =>
    reader.prepare(`
      SELECT l.id, l.answer, c.json, c.crc FROM dead_letters l JOIN configurations c ON c.position = l.message
      WHERE l.tenant = ?1 AND (?2 IS NULL OR l.id ${behind} ?2) AND l.failed_at BETWEEN ?3 AND ?4
      ORDER BY l.id ${direction} LIMIT ?5`);
  return {
    one: (tenant, id) => {
      const row = one.get(tenant, id);
      return row && letterFrom(row);
    },
    pages: { earliestFirst: page(">", ""), latestFirst: page("<", "DESC") },
  };
}

function wants(filter: DeadLetterFilter, row: Row, id: DlqId): boolean {
  if (!among(filter.ids, id)) return false;
  if (filter.responseStatuses && !filter.responseStatuses.includes(statusOf(row))) return false;
  return matchesMessage(filter, configurationFrom(row));
}

type Head = Omit<Answer, "body">;
const headOf = (row: Row): Head | undefined => {
  const json = optionalText(row["answer"] ?? null);
  return json === undefined ? undefined : stored<Head>(json);
};

/** 0 where there was no answer (protocol/qstash.md §1.8). */
const statusOf = (row: Row): number => headOf(row)?.status ?? 0;

function letterFrom(row: Row): DeadLetter {
  const error = optionalText(row["error"] ?? null);
  const head = headOf(row);
  return {
    id: dlqId(text(row["id"])),
    failedAt: integer(row["failed_at"]),
    reason: reasonFrom(text(row["reason"])),
    message: messageFrom(row),
    retried: integer(row["retried"]),
    ...(error !== undefined && { error }),
    ...(head && {
      response: { ...head, body: optionalBytes(row["response"] ?? null) ?? new Uint8Array(0) },
    }),
  };
}

const reasons: readonly FailureReason[] = ["retries_exhausted", "non_retryable", "quarantined"];
function reasonFrom(value: string): FailureReason {
  const reason = reasons.find((known) => known === value);
  if (!reason) throw new Error(`unknown reason ${value} of a dead letter in the store`);
  return reason;
}
