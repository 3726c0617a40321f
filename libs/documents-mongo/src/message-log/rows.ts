/**
 * The rows of the message log: one for each event, complete, with an id derived from (message, attempt, state), so
 * writing it twice has the effect of once. The row of a delivery or of a cancellation also contains the events shortly
 * before it, so most messages are one row. Such an event may have a row of its own as well; both have the same place,
 * by which a reader recognizes the duplicate (reading.ts).
 */
import {
  answerOfFact,
  type AttemptFact,
  createdEvent,
  eventsOf,
  limits,
  type LogEvent,
  type Message,
  type MessageId,
  type OwnFact,
  placeOfUrl,
  rankOf,
  tellsFact,
} from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { type Placed, placeOf } from "../query/placed.ts";

/** `fact` is set for the states of an attempt's fact. `earlier`: events of the message without a row of their own, oldest first. */
export type LogItem = LogEntry & { readonly earlier?: readonly LogEvent[] };

export type LogRow = Placed<LogItem> & {
  /** For filters, from the message's URL: `hosts` with and without its port, `path` without the query. */
  readonly hosts: readonly string[];
  readonly path?: string;
  readonly first?: string;
};

/** The fields that, with a delivered record's own, make it a row of the log. */
export type OwnTold = Pick<LogRow, "place" | "hosts" | "path"> &
  Pick<OwnFact, "startedAt" | "answered">;

/** The longest time before its own event from which a row may contain others; a reader looks this far beyond the end of its page. */
export const earlierMsMax = limits.ownLogMs;

/** Returns the rows of CREATED and of the events of `fact`. The parents of group publishes are in no log. */
export function rowsOf(message: Message, fact: AttemptFact | undefined): readonly LogRow[] {
  const { body: _, ...configuration } = message;
  const { hosts, path } = placeOfUrl(message.url);
  const kept = fact && capped(fact);
  const common = {
    tenant: message.tenant,
    hosts,
    ...(path !== undefined && { path }),
  };
  const events = [createdEvent(message.createdAt), ...(fact ? eventsOf(fact) : [])];
  return told(events).map(({ event, earlier }) => {
    const [first] = earlier;
    return {
      _id: rowId(message.id, event),
      place: placeOfEvent(message.id, event),
      ...common,
      item: {
        event,
        message: configuration,
        ...(kept && tellsFact[event.state] && { fact: kept }),
        ...(first && { earlier }),
      },
      ...(first && { first: placeOfEvent(message.id, first) }),
    };
  });
}

/** Returns what a record that is its own row stores beside its other fields. */
export function toldBy({ id, url }: Pick<Message, "id" | "url">, fact: OwnFact): OwnTold {
  const { hosts, path } = placeOfUrl(url);
  const { answered, endedAt: at, startedAt } = fact;
  return {
    place: placeOfEvent(id, { at, attempt: fact.attempt, state: "DELIVERED" }),
    startedAt,
    ...(answered && { answered }),
    hosts,
    ...(path !== undefined && { path }),
  };
}

/** Returns the events of such a record, as the row of a delivery has them. */
export function ownItem<M extends Pick<Message, "id" | "createdAt">>(
  message: M,
  { startedAt, answered }: OwnTold,
  at: number,
) {
  const active: LogEvent = { at: startedAt, attempt: 0, state: "ACTIVE" };
  const event: LogEvent = { at, attempt: 0, state: "DELIVERED", ...(answered && { answered }) };
  const earlier = [createdEvent(message.createdAt), active].toSorted((a, b) => a.at - b.at);
  return { event, earlier, message };
}

type Told = { readonly event: LogEvent; readonly earlier: readonly LogEvent[] };

/** Returns the events in the order of time. Events whose times run backwards, as by two clocks, have rows of their own. */
function told(events: readonly LogEvent[]): readonly Told[] {
  const last = events.at(-1);
  const each = events.map((event): Told => ({ event, earlier: [] }));
  if (last?.state !== "DELIVERED" && last?.state !== "CANCELED") return each;
  const isEarlier = ({ at }: LogEvent): boolean => at <= last.at && at >= last.at - earlierMsMax;
  const earlier = events.slice(0, -1).filter(isEarlier);
  const alone = each.slice(0, -1).filter(({ event }) => !isEarlier(event));
  return [...alone, { event: last, earlier: earlier.toSorted((a, b) => a.at - b.at) }];
}

export type PlacedEntry = { readonly place: string; readonly item: LogEntry };

export type NamesOfRow = Pick<LogItem, "event" | "earlier"> & {
  readonly message: Pick<Message, "id">;
};

export const eventsOfRow = ({
  earlier = [],
  event,
  message,
}: NamesOfRow): readonly { readonly place: string; readonly event: LogEvent }[] =>
  [...earlier, event].map((each) => ({ place: placeOfEvent(message.id, each), event: each }));

export function entriesOf({ earlier = [], ...item }: LogItem): readonly PlacedEntry[] {
  const { message } = item;
  const placed = (entry: LogEntry): PlacedEntry => ({
    place: placeOfEvent(message.id, entry.event),
    item: entry,
  });
  return [...earlier.map((event) => placed({ event, message })), placed(entryFrom(item))];
}

const placeOfEvent = (id: MessageId, event: LogEvent): string =>
  placeOf(event.at, rowId(id, event));

export const isOfCreated = ({ item }: LogRow): boolean => item.event.state === "CREATED";

function entryFrom({ fact, ...entry }: LogEntry): LogEntry {
  if (!fact?.response) return { ...entry, ...(fact && { fact }) };
  const response = { ...fact.response, body: bytes(fact.response.body) };
  return { ...entry, fact: { ...fact, response } };
}

type Step = Pick<LogEvent, "attempt" | "state">;

export const rowId = (id: MessageId, event: Step): string => `${id}:${stepOf(event)}`;

/** Orders events of one message that share a time, and names the event within its message. */
const stepOf = ({ attempt, state }: Step): string =>
  `${String(attempt).padStart(attemptDigits, "0")}${rankOf[state]}`;

/** Attempts that failed in this service count, too, so their number has no other bound. At one a second, ten digits last for 300 years. */
const attemptDigits = 10;

const capped = ({ response, ...fact }: AttemptFact): AttemptFact =>
  response ? { ...fact, response: answerOfFact(response) } : fact;
