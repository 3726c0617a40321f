/**
 * The rows of the message log, for events that no whole row contains (whole.ts), and the counts of all events. The key of an event is four
 * integers, so writing it twice has the effect of once. Each failed attempt has a row of details too. The
 * configuration is the message's own (configurations.ts).
 */
import { type DatabaseSync } from "node:sqlite";
import {
  type AttemptFact,
  eventsOf,
  limits,
  type LogEvent,
  type LogState,
  minuteMs,
  rankOf,
  type TenantId,
} from "@posthaste/domain";
import { type Clock, type Log, type MessageLog } from "@posthaste/ports";
import { pack } from "../answers.ts";
import { sqliteCode } from "../database/failures.ts";
import { integer, optionalInteger } from "../database/rows.ts";
import { type Writer } from "../database/writer.ts";
import { positionAt } from "../messages/positions.ts";
import { type TenantKeys } from "../tenants.ts";
import { ranks, stateOf, stepOf } from "./steps.ts";

export type CountedEvent = Pick<LogEvent, "at" | "state">;

export type Events = {
  created(tenant: number, position: number, at: number): void;
  /** Counts a CREATED event. Must be called only if the record was inserted with it. */
  countCreated(tenant: number, at: number): void;
  ended(tenant: number, position: number, fact: AttemptFact): void;
  /** Counts the events of a whole row, and notifies watchers. Called after the commit that has added them. */
  toldByRow(tenant: number, events: readonly CountedEvent[]): void;
  /** Calls `grown` after each commit that holds events of the tenant. Returns a function that ends the watch. */
  watch(tenant: TenantId, grown: () => void): () => void;
};

export function openEvents(
  { db, writer, tenants }: { db: DatabaseSync; writer: Writer; tenants: TenantKeys },
  counts: EventCounts,
): Events {
  const watchers = new Map<TenantId, Set<() => void>>();
  const watching = (tenant: number): Iterable<() => void> =>
    (watchers.size > 0 && watchers.get(tenants.name(tenant))) || [];
  const tell = (tenant: number): void => {
    for (const grown of watching(tenant)) writer.onCommit(grown);
  };
  const created = db.prepare(
    "INSERT OR IGNORE INTO events (tenant, at, message, step) VALUES (?, ?, ?, ?)",
  );
  const one = db.prepare(`
    INSERT OR IGNORE INTO events (tenant, at, message, step, answer_status, answer_bytes)
    VALUES (?, ?, ?, ?, ?, ?)`);
  const two = db.prepare(`
    INSERT OR IGNORE INTO events (tenant, at, message, step, answer_status, answer_bytes)
    VALUES (?, ?, ?, ?, NULL, NULL), (?, ?, ?, ?, ?, ?)`);
  const details = db.prepare(`
    INSERT INTO details (message, attempt, json, response) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  const put = (tenant: number, position: number, event: LogEvent): void => {
    const step = stepOf(event.attempt, event.state);
    const { status = null, bytes = null } = event.answered ?? {};
    if (one.run(tenant, event.at, position, step, status, bytes).changes > 0)
      writer.onCommit(() => counts.add(tenant, event));
  };
  /** The two events are only written together, so both rows exist or neither does. The second may have an answer. */
  const putTwo = (tenant: number, position: number, a: LogEvent, b: LogEvent): void => {
    const [first, second] = [stepOf(a.attempt, a.state), stepOf(b.attempt, b.state)];
    const { status = null, bytes = null } = b.answered ?? {};
    const { changes } = two.run(
      tenant, a.at, position, first, tenant, b.at, position, second, status, bytes,
    ); // oxfmt-ignore
    if (changes === 0) return;
    writer.onCommit(() => {
      counts.add(tenant, a);
      counts.add(tenant, b);
    });
  };

  return {
    created: (tenant, position, at) => {
      created.run(tenant, at, position, stepOf(0, "CREATED"));
      tell(tenant);
    },
    countCreated: (tenant, at) =>
      writer.onCommit(() => counts.add(tenant, { at, state: "CREATED" })),
    toldByRow: (tenant, told) => {
      for (const event of told) counts.add(tenant, event);
      for (const grown of watching(tenant)) grown();
    },
    watch: (tenant, grown) => {
      const own = watchers.get(tenant) ?? new Set();
      watchers.set(tenant, own.add(grown));
      return () => {
        own.delete(grown);
        if (own.size === 0) watchers.delete(tenant);
      };
    },
    ended: (tenant, position, fact) => {
      tell(tenant);
      const [first, second, ...more] = eventsOf(fact);
      if (first && second) putTwo(tenant, position, first, second);
      else if (first) put(tenant, position, first);
      for (const event of more) put(tenant, position, event);
      if (fact.ended === "retry" || fact.ended === "failed") {
        const { json, response } = pack(fact, limits.logResponseBytesMax);
        details.run(position, fact.attempt, json, response);
      }
    },
  };
}

export type EventCounts = {
  /** Called after the commit that has added the event. */
  add(tenant: number, event: CountedEvent): void;
  readonly read: (reader: DatabaseSync) => MessageLog["counts"];
  close(): Promise<void>;
};

type CountPorts = {
  readonly db: DatabaseSync;
  readonly writer: Writer;
  readonly tenants: TenantKeys;
  readonly clock: Clock;
  readonly log: Log;
};

const writeEveryMs = 1_000;

/**
 * Counts the events of each state by minute. The counts of commits are gathered in memory and written once a second: a commit of one
 * message would else cost a tenth more.
 *
 * (1) A reader finds everything committed.
 * (2) Counts that a killed process had not written are counted again at open, from the minute before the last that has a count.
 */
export function openEventCounts({ db, writer, tenants, clock, log }: CountPorts): EventCounts {
  countAgain(db, log);
  const put = db.prepare(`
    INSERT INTO event_counts (tenant, state, minute, n) VALUES (?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET n = n + excluded.n`);
  let gathered = new Map<number, number>();
  let callOff: (() => void) | undefined;

  async function write(): Promise<void> {
    callOff?.();
    callOff = undefined;
    if (gathered.size === 0) return;
    const taken = gathered;
    gathered = new Map();
    try {
      await writer.write(() => {
        for (const [key, n] of taken) put.run(...partsOf(key), n);
      }, "accepted");
    } catch (error) {
      for (const [key, n] of taken) gathered.set(key, (gathered.get(key) ?? 0) + n);
      log.warn("log.uncounted", { error });
    }
  }

  return {
    add: (tenant, { at, state }) => {
      const key = (tenant * ranks + rankOf[state]) * minutesMax + Math.floor(at / minuteMs);
      gathered.set(key, (gathered.get(key) ?? 0) + 1);
      callOff ??= clock.after(writeEveryMs, () => void write());
    },
    read: (reader) => {
      const readRows = openReading(reader);
      return async (tenantId, from, to) => {
        await write();
        const tenant = tenants.find(tenantId);
        return tenant === undefined ? [] : readRows(tenant, from, to);
      };
    },
    close: write,
  };
}

/** A key packs tenant, state and minute into one number. Unix minutes stay below this bound until the year 2097. */
const minutesMax = 2 ** 26;

function partsOf(key: number): [tenant: number, rank: number, minute: number] {
  const rest = Math.floor(key / minutesMax);
  return [Math.floor(rest / ranks), rest % ranks, key % minutesMax];
}

type Found = { readonly minute: number; readonly counts: Partial<Record<LogState, number>> };

function openReading(reader: DatabaseSync) {
  const read = reader.prepare(`
    SELECT minute, state, n FROM event_counts WHERE tenant = ? AND minute BETWEEN ? AND ? ORDER BY minute, state`);
  return (tenant: number, from: number, to: number): readonly Found[] => {
    const found: Found[] = [];
    for (const row of read.all(tenant, Math.floor(from / minuteMs), Math.floor(to / minuteMs))) {
      const minute = integer(row["minute"]) * minuteMs;
      const last = found.at(-1);
      const of = last?.minute === minute ? last : { minute, counts: {} };
      if (of !== last) found.push(of);
      of.counts[stateOf(integer(row["state"]))] = integer(row["n"]);
    }
    return found;
  };
}

const ownLogs =
  "messages INDEXED BY messages_logged WHERE tenant = ?1 AND json IS NOT NULL AND position >= ?3";

/** Counts again what a killed process had not written. A full disk is logged, since it must not prevent a start. */
function countAgain(db: DatabaseSync, log: Log): void {
  const last = db.prepare("SELECT max(minute) AS minute FROM event_counts WHERE tenant = ?");
  const forget = db.prepare("DELETE FROM event_counts WHERE tenant = ? AND minute >= ?");
  const count = db.prepare(`
    INSERT INTO event_counts (tenant, state, minute, n)
    SELECT ?1, state, at / ${minuteMs}, count(*) FROM (
      SELECT step % ${ranks} AS state, at FROM events WHERE tenant = ?1 AND at >= ?2
      UNION ALL SELECT ${rankOf.CREATED}, created AS at FROM ${ownLogs}
      UNION ALL SELECT ${rankOf.ACTIVE}, created + told FROM ${ownLogs} AND told IS NOT NULL
      UNION ALL SELECT ${rankOf.DELIVERED}, until FROM ${ownLogs} AND told IS NOT NULL)
    WHERE at >= ?2 GROUP BY 2, 3`);
  try {
    db.exec("BEGIN IMMEDIATE");
    for (const row of db.prepare("SELECT key FROM tenants").all()) {
      const tenant = integer(row["key"]);
      // An event of the end of a minute may have been written when the next minute already had counts.
      const minute = Math.max(0, (optionalInteger(last.get(tenant)?.["minute"] ?? null) ?? 0) - 1);
      forget.run(tenant, minute);
      count.run(tenant, minute * minuteMs, positionAt(minute * minuteMs - limits.ownLogMs));
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    if (sqliteCode(error) !== "full") throw error;
    log.error("store.uncounted", { error });
  }
}
