/**
 * The rows of the message log: one per event, whole in itself, under an id derived from (message, attempt, state), so
 * writing it twice is writing it once.
 */
import {
  answerOfFact,
  type AttemptFact,
  createdEvent,
  eventsOf,
  type LogEvent,
  type LogState,
  type Message,
  type MessageId,
  rankOf,
} from "@posthaste/domain";
import { type LogEntry } from "@posthaste/ports";
import { bytes } from "../bytes.ts";
import { type Placed, placeOf } from "../query/placed.ts";

export type LogRow = Placed<LogEntry> & {
  /** Of the message's url: with and without its port, and without the query; for filters. */
  readonly hosts: readonly string[];
  readonly path?: string;
};

/** CREATED, and what `fact` tells. Parents of group publishes appear in no log. */
export function rowsOf(message: Message, fact: AttemptFact | undefined): readonly LogRow[] {
  const { body: _, ...configuration } = message;
  const url = URL.parse(message.url);
  const kept = fact && capped(fact);
  return [createdEvent(message.createdAt), ...(fact ? eventsOf(fact) : [])].map((event) => {
    return {
      _id: idOf(message.id, event),
      tenant: message.tenant,
      place: placeOf(event.at, idOf(message.id, event)),
      item: {
        event,
        message: configuration,
        ...(kept && statesWithFact.has(event.state) && { fact: kept }),
      },
      hosts: url ? [...new Set([url.host, url.hostname])] : [],
      ...(url && { path: url.pathname }),
    };
  });
}

/** The id of the row that says when a message was accepted. */
export const createdId = (id: MessageId): string => idOf(id, createdEvent(0));

export function entryFrom({ fact, ...entry }: LogEntry): LogEntry {
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

const statesWithFact: ReadonlySet<LogState> = new Set(["ERROR", "RETRY", "FAILED"]);

const capped = ({ response, ...fact }: AttemptFact): AttemptFact =>
  response ? { ...fact, response: answerOfFact(response) } : fact;
