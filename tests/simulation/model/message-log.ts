/** The message log in memory: an event appended twice is one event. */
import {
  type AttemptFact,
  createdEvent,
  eventsOf,
  limits,
  type LogEvent,
  type LogState,
  matchesLogged,
  type Message,
  type MessageId,
  minuteMs,
  rankOf,
  tellsFact,
  type TenantId,
} from "@posthaste/domain";
import { type LogEntry, type MessageLog } from "@posthaste/ports";
import { pageOf } from "./page.ts";

const minuteOf = (at: number): number => at - (at % minuteMs);

export type ModelMessageLog = {
  readonly port: MessageLog;
  /** Appends one entry like `append`, within another write. */
  readonly tell: (message: Message, fact: AttemptFact | undefined) => void;
  readonly countCreated: (tenant: TenantId, at: number) => void;
  readonly statesOf: (id: MessageId) => readonly LogState[];
};

export function modelMessageLog(): ModelMessageLog {
  const entries = new Map<MessageId, Map<string, LogEntry>>();
  const watchers = new Set<{ readonly tenant: TenantId; readonly grown: () => void }>();

  const counted = new Map<TenantId, Map<number, Partial<Record<LogState, number>>>>();
  const count = (tenant: TenantId, { at, state }: Pick<LogEvent, "at" | "state">): void => {
    const minutes = counted.get(tenant) ?? new Map<number, Partial<Record<LogState, number>>>();
    const counts = minutes.get(minuteOf(at)) ?? {};
    counts[state] = (counts[state] ?? 0) + 1;
    counted.set(tenant, minutes.set(minuteOf(at), counts));
  };

  const tell: ModelMessageLog["tell"] = (message, fact) => {
    // A group publish is not a message: its children have the log.
    const { body: _, ...configuration } = message;
    const known = entries.get(message.id) ?? new Map<string, LogEntry>();
    entries.set(message.id, known);
    const entry = { event: createdEvent(message.createdAt), message: configuration };
    for (const each of [entry, ...(fact ? entriesOf(configuration, fact) : [])]) {
      const key = keyOf(each);
      if (known.has(key)) continue;
      known.set(key, each);
      if (each.event.state !== "CREATED") count(message.tenant, each.event);
    }
    for (const { tenant, grown } of watchers) if (tenant === message.tenant) grown();
  };

  const port: MessageLog = {
    writtenBy: "facts",
    append: async (given) => {
      for (const { message, fact } of given) tell(message, fact);
    },
    list: async (tenant, filter, page) => {
      const found = [...entries.values()]
        .flatMap((known) => [...known.values()])
        .filter(
          ({ event, message }) =>
            message.tenant === tenant && matchesLogged(filter, event, message),
        );
      return pageOf(found, keyOf, page);
    },
    counts: async (tenant, from, to) =>
      [...(counted.get(tenant) ?? [])]
        .map(([minute, counts]) => ({ minute, counts }))
        .filter(({ minute }) => minute >= minuteOf(from) && minute <= to)
        .toSorted((a, b) => a.minute - b.minute),
    watch: (tenant, grown) => {
      const watcher = { tenant, grown };
      watchers.add(watcher);
      return () => watchers.delete(watcher);
    },
    sweep: async (tenant, before, limit) => {
      const minutes = counted.get(tenant);
      for (const minute of minutes?.keys() ?? [])
        if (minute < minuteOf(before)) minutes?.delete(minute);
      const old = [...entries].filter(([, known]) =>
        [...known.values()].some(
          (entry) => entry.message.tenant === tenant && isBefore(before)(entry),
        ),
      );
      const swept = old.slice(0, limit);
      for (const [id, known] of swept) {
        for (const [key, entry] of known) if (isBefore(before)(entry)) known.delete(key);
        if (known.size === 0) entries.delete(id);
      }
      return swept.length;
    },
  };
  return {
    port,
    tell,
    countCreated: (tenant, at) => count(tenant, { at, state: "CREATED" }),
    statesOf: (id) => [...(entries.get(id)?.values() ?? [])].map(({ event }) => event.state),
  };
}

const entriesOf = (message: LogEntry["message"], fact: AttemptFact): readonly LogEntry[] =>
  eventsOf(fact).map((event) =>
    tellsFact[event.state] ? { event, message, fact: cut(fact) } : { event, message },
  );

function cut(fact: AttemptFact): AttemptFact {
  const { response } = fact;
  if (!response || response.body.length <= limits.logResponseBytesMax) return fact;
  const body = response.body.subarray(0, limits.logResponseBytesMax);
  return { ...fact, response: { ...response, body, truncated: true } };
}

const isBefore =
  (before: number) =>
  ({ event }: LogEntry): boolean =>
    event.at < before;

const digits = 16;
const sortable = (n: number): string => String(n).padStart(digits, "0");
const keyOf = ({ event, message }: LogEntry): string =>
  [sortable(event.at), message.id, sortable(event.attempt), rankOf[event.state]].join(" ");
