/**
 * The rows of the message log. An event is four integers whose key is the event itself, so writing it twice is writing
 * it once; failed attempts have a row of details beside it. The configuration is the message's own (configurations.ts).
 */
import { type DatabaseSync } from "node:sqlite";
import {
  type AttemptFact,
  eventsOf,
  limits,
  type LogState,
  logStates,
  rankOf,
  type TenantId,
} from "@posthaste/domain";
import { pack } from "../answers.ts";
import { type Writer } from "../database/writer.ts";
import { type TenantKeys } from "../tenants.ts";

export type Events = {
  created(tenant: number, position: number, at: number): void;
  ended(tenant: number, position: number, fact: AttemptFact): void;
  /** `grown` is called after each commit that holds events of the tenant. Returns what ends that. */
  watch(tenant: TenantId, grown: () => void): () => void;
};

export function openEvents(db: DatabaseSync, writer: Writer, tenants: TenantKeys): Events {
  const watchers = new Map<TenantId, Set<() => void>>();
  const tell = (tenant: number): void => {
    if (watchers.size === 0) return;
    for (const grown of watchers.get(tenants.name(tenant)) ?? []) writer.onCommit(grown);
  };
  const one = db.prepare(
    "INSERT OR IGNORE INTO events (tenant, at, message, step) VALUES (?, ?, ?, ?)",
  );
  const two = db.prepare(
    "INSERT OR IGNORE INTO events (tenant, at, message, step) VALUES (?, ?, ?, ?), (?, ?, ?, ?)",
  );
  const details = db.prepare(`
    INSERT INTO details (message, attempt, json, response) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`);
  return {
    created: (tenant, position, at) => {
      one.run(tenant, at, position, stepOf(0, "CREATED"));
      tell(tenant);
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
      if (first && second) {
        const { attempt } = fact;
        const [a, b] = [stepOf(attempt, first.state), stepOf(attempt, second.state)];
        two.run(tenant, first.at, position, a, tenant, second.at, position, b);
      } else if (first) {
        one.run(tenant, first.at, position, stepOf(first.attempt, first.state));
      }
      for (const event of more)
        one.run(tenant, event.at, position, stepOf(event.attempt, event.state));
      if (fact.ended === "retry" || fact.ended === "failed") {
        const { json, response } = pack(fact, limits.logResponseBytesMax);
        details.run(position, fact.attempt, json, response);
      }
    },
  };
}

/** Sorts events of one message that share a time; names the event inside its message. */
const stepOf = (attempt: number, state: LogState): number => attempt * ranks + rankOf(state);
export const attemptOf = (step: number): number => Math.floor(step / ranks);

/** Steps per attempt: one per state. The SQL of this folder has it, too. */
export const ranks = 8;
const stateByRank = logStates.toSorted((a, b) => rankOf(a) - rankOf(b));

export function stateOf(step: number): LogState {
  const state = stateByRank[step % ranks];
  if (state === undefined) throw new Error(`unknown step ${step} in the log`);
  return state;
}
