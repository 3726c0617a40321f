/**
 * The rows of the message log: one per event, whole in itself, under an id derived from (message, attempt, state), so
 * writing it twice is writing it once.
 *
 * A delivery tells what came shortly before it as well: most messages are one row. What it tells may stand in a row of
 * its own, too; the two have one place, by which a reader takes them for one (reading.ts).
 */
import {
  answerOfFact,
  type AttemptFact,
  createdEvent,
  eventsOf,
  type LogEvent,
  type Message,
  type MessageId,
  placeOfUrl,
  rankOf,
  tellsFact,
} from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { type Placed, placeOf } from "../query/placed.ts";

/** Of an attempt's fact, those states have it. `earlier`: events of the message that have no row of their own, oldest first. */
export type LogItem = LogEntry & { readonly earlier?: readonly LogEvent[] };

export type LogRow = Placed<LogItem> & {
  /** Of the message's url: with and without its port, and without the query; for filters. */
  readonly hosts: readonly string[];
  readonly path?: string;
  /** The place of the first of the events that it tells, if they are several. */
  readonly first?: string;
};

/** So far before an event its row tells of further ones: by that much a reader looks beyond the end of its page. */
export const earlierMsMax = 1_000;

/** CREATED, and what `fact` tells. Parents of group publishes appear in no log. */
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
      _id: idOf(message.id, event),
      place: placeOfEvent(message.id, event),
      ...common,
      item: {
        event,
        message: configuration,
        ...(kept && tellsFact(event.state) && { fact: kept }),
        ...(first && { earlier }),
      },
      ...(first && { first: placeOfEvent(message.id, first) }),
    };
  });
}

type Told = { readonly event: LogEvent; readonly earlier: readonly LogEvent[] };

/** In the order of time: events that run backwards, as two clocks may see them, have rows of their own. */
function told(events: readonly LogEvent[]): readonly Told[] {
  const last = events.at(-1);
  const each = events.map((event): Told => ({ event, earlier: [] }));
  if (last?.state !== "DELIVERED") return each;
  const isEarlier = ({ at }: LogEvent): boolean => at <= last.at && at >= last.at - earlierMsMax;
  const earlier = events.slice(0, -1).filter(isEarlier);
  const alone = each.slice(0, -1).filter(({ event }) => !isEarlier(event));
  return [...alone, { event: last, earlier: earlier.toSorted((a, b) => a.at - b.at) }];
}

/** One event, as lists tell it. */
export type PlacedEntry = { readonly place: string; readonly item: LogEntry };

/** What of a row says which events it tells. */
export type NamesOfRow = Pick<LogItem, "event" | "earlier"> & {
  readonly message: Pick<Message, "id">;
};

/** The events that a row tells, each at its own place. */
export const eventsOfRow = ({
  earlier = [],
  event,
  message,
}: NamesOfRow): readonly { readonly place: string; readonly event: LogEvent }[] =>
  [...earlier, event].map((each) => ({ place: placeOfEvent(message.id, each), event: each }));

/** What a row tells, each event at its own place. */
export function entriesOf({ earlier = [], ...item }: LogItem): readonly PlacedEntry[] {
  const { message } = item;
  const placed = (entry: LogEntry): PlacedEntry => ({
    place: placeOfEvent(message.id, entry.event),
    item: entry,
  });
  return [...earlier.map((event) => placed({ event, message })), placed(entryFrom(item))];
}

const placeOfEvent = (id: MessageId, event: LogEvent): string => placeOf(event.at, idOf(id, event));

/** The id of the row that says that a message was delivered by this attempt. */
export const deliveredId = (id: MessageId, attempt: number): string =>
  idOf(id, { at: 0, attempt, state: "DELIVERED" });

/** Of a row that tells nothing but CREATED. */
export const isOfCreated = ({ item }: LogRow): boolean => item.event.state === "CREATED";

function entryFrom({ fact, ...entry }: LogEntry): LogEntry {
  if (!fact?.response) return { ...entry, ...(fact && { fact }) };
  const response = { ...fact.response, body: bytes(fact.response.body) };
  return { ...entry, fact: { ...fact, response } };
}

const idOf = (id: MessageId, event: LogEvent): string => `${id}:${stepOf(event)}`;

/** Sorts events of one message that share a time; names the event inside its message. */
const stepOf = ({ attempt, state }: LogEvent): string =>
  `${String(attempt).padStart(attemptDigits, "0")}${rankOf(state)}`;

/** Attempts count our own failures, too, so they have no bound of their own; a second each makes 300 years. */
const attemptDigits = 10;

const capped = ({ response, ...fact }: AttemptFact): AttemptFact =>
  response ? { ...fact, response: answerOfFact(response) } : fact;
