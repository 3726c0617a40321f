/**
 * The rows of the message log, for events that no whole row contains (whole.ts). The key of an event is four
 * integers, so writing it twice has the effect of once. Each failed attempt has a row of details too. The
 * configuration is the message's own (configurations.ts).
 */
import { type DatabaseSync } from "node:sqlite";
import {
  type AttemptFact,
  eventsOf,
  limits,
  type LogEvent,
  type TenantId,
} from "@posthaste/domain";
import { pack } from "../answers.ts";
import { type Writer } from "../database/writer.ts";
import { type TenantKeys } from "../tenants.ts";
import { type EventCounts } from "./counts.ts";
import { stepOf } from "./steps.ts";

export type Events = {
  created(tenant: number, position: number, at: number): void;
  /** Counts a CREATED event. Must be called only if the record was inserted with it. */
  countCreated(tenant: number, at: number): void;
  ended(tenant: number, position: number, fact: AttemptFact): void;
  /** Counts the events of a whole row, and tells watchers of them. */
  toldByRow(tenant: number, events: readonly LogEvent[]): void;
  /** Calls `grown` after each commit that holds events of the tenant. Returns a function that ends the watch. */
  watch(tenant: TenantId, grown: () => void): () => void;
};

export function openEvents(
  { db, writer, tenants }: { db: DatabaseSync; writer: Writer; tenants: TenantKeys },
  counts: EventCounts,
): Events {
  const watchers = new Map<TenantId, Set<() => void>>();
  const tell = (tenant: number): void => {
    if (watchers.size === 0) return;
    for (const grown of watchers.get(tenants.name(tenant)) ?? []) writer.onCommit(grown);
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
      tell(tenant);
      writer.onCommit(() => {
        for (const event of told) counts.add(tenant, event);
      });
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
