/** The MessageLog port. Settle and insert write their rows themselves (events.ts); `append` is for whoever else has facts. */
import { type DatabaseSync, type SQLInputValue } from "node:sqlite";
import {
  type AttemptFact,
  type LogFilter,
  type MessageId,
  type PageRequest,
  rankOf,
  type TenantId,
} from "@posthaste/domain";
import { type LogEntry, type MessageLog } from "@posthaste/ports";
import { unpack } from "../answers.ts";
import { type Archive } from "../archive.ts";
import { integer, optionalBytes, optionalText, type Row, stored } from "../database/rows.ts";
import { configurationFrom } from "../messages/configurations.ts";
import { type Rooms } from "../messages/rooms.ts";
import { readPage } from "../query/keyset.ts";
import { matchesMessage, matchesPlace } from "../query/matches.ts";
import { attemptOf, ranks, stateOf } from "./events.ts";
import { openLogSweep } from "./sweep.ts";

export function openMessageLog(
  rooms: Rooms,
  archive: Archive,
  reader: DatabaseSync,
  breathe: () => Promise<void>,
): MessageLog {
  const { writer, tenants, events, names } = rooms;
  const sweepOnce = openLogSweep(rooms);
  const select = openSelect(reader);

  return {
    append: (entries) =>
      writer.write(() => {
        for (const { message, fact } of entries) {
          if (message.fanOut) continue;
          const tenant = tenants.take(message.tenant);
          const position = archive.place(message);
          events.created(tenant, position, message.createdAt);
          if (fact) events.ended(tenant, position, fact);
        }
      }),
    list: async (tenantId: TenantId, filter: LogFilter, page: PageRequest) => {
      const tenant = tenants.find(tenantId);
      if (tenant === undefined) return { items: [] };
      const positions = filter.messageIds && positionsOf(filter.messageIds);
      const rows = (after: string | undefined, limit: number): readonly Row[] =>
        select({ tenant, filter, positions, order: page.order, after, limit });
      const itemOf = (row: Row): LogEntry | undefined => {
        const message = configurationFrom(row);
        return matchesMessage(filter, message) && matchesPlace(filter, message)
          ? entryFrom(row, message)
          : undefined;
      };
      return readPage({ rows, keyOf, itemOf, breathe }, page);
    },
    sweep: async (before, limit) => {
      let swept = 0;
      // Ends when nothing is old enough, or at `limit`.
      while (swept < limit) {
        const portion = Math.min(limit - swept, messagesPerCommitMax);
        const n = await writer.write(() => sweepOnce(before, portion));
        swept += n;
        if (n === 0) break;
      }
      return swept;
    },
  };

  function positionsOf(ids: readonly MessageId[]): string {
    return JSON.stringify(ids.flatMap((id) => names.find(id)?.position ?? []));
  }
}

const messagesPerCommitMax = 200;

type Query = {
  readonly tenant: number;
  readonly filter: LogFilter;
  /** Of the messages asked for, as a JSON array; undefined: of all. */
  readonly positions: string | undefined;
  readonly order: PageRequest["order"];
  readonly after: string | undefined;
  readonly limit: number;
};

function openSelect(reader: DatabaseSync): (query: Query) => readonly Row[] {
  const columns = `e.at, e.message, e.step, c.json, c.crc, d.json AS fact, d.response
    FROM events e %INDEX%
    JOIN configurations c ON c.position = e.message
    LEFT JOIN details d ON d.message = e.message AND d.attempt = e.step / ${ranks} AND e.step % ${ranks} IN (${ranksWithFact.join(", ")})`;
  const states = `(?2 IS NULL OR e.step % ${ranks} IN (SELECT value FROM json_each(?2)))`;
  const earliest = "(e.at, e.message, e.step) > (?3, ?4, ?5) AND e.at <= ?6";
  const latest = "(e.at, e.message, e.step) < (?3, ?4, ?5) AND e.at >= ?6";
  const ofMessages = "AND e.message IN (SELECT value FROM json_each(?8))";
  const sql = (range: string, direction: string, byMessage: boolean): string => `
    SELECT ${columns.replace("%INDEX%", byMessage ? "INDEXED BY events_by_message" : "")}
    WHERE e.tenant = ?1 AND ${states} AND ${range} ${byMessage ? ofMessages : ""}
    ORDER BY e.at ${direction}, e.message ${direction}, e.step ${direction} LIMIT ?7`;
  const statements = {
    earliestFirst: {
      all: reader.prepare(sql(earliest, "", false)),
      some: reader.prepare(sql(earliest, "", true)),
    },
    latestFirst: {
      all: reader.prepare(sql(latest, "DESC", false)),
      some: reader.prepare(sql(latest, "DESC", true)),
    },
  };
  return ({ tenant, filter, positions, order, after, limit }) => {
    const { from = 0, to = Number.MAX_SAFE_INTEGER } = filter;
    const [start, end] =
      order === "earliestFirst" ? [[from, -1, -1], to] : [[to, ...lastKey], from];
    const key = after === undefined ? start : parseKey(after);
    const states = filter.states ? JSON.stringify(filter.states.map(rankOf)) : null;
    const values: SQLInputValue[] = [tenant, states, ...key, end, limit];
    const { all, some } = statements[order];
    return positions === undefined ? all.all(...values) : some.all(...values, positions);
  };
}

const lastKey = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
const ranksWithFact = [rankOf("ERROR"), rankOf("RETRY"), rankOf("FAILED")];

const keyOf = (row: Row): string => [row["at"], row["message"], row["step"]].map(integer).join(".");

function parseKey(key: string): readonly number[] {
  const parts = key.split(".").map(Number);
  if (parts.length !== 3 || !parts.every(Number.isSafeInteger))
    throw new Error(`no position in the log: ${key}`);
  return parts;
}

function entryFrom(row: Row, message: LogEntry["message"]): LogEntry {
  const step = integer(row["step"]);
  const event = { at: integer(row["at"]), attempt: attemptOf(step), state: stateOf(step) };
  const json = optionalText(row["fact"] ?? null);
  if (json === undefined) return { event, message };
  return {
    event,
    message,
    fact: unpack(stored<AttemptFact>(json), optionalBytes(row["response"] ?? null)),
  };
}
