/** An event of the message log as it is read (protocol/qstash.md §1.9). Configuration stands on every entry of a message. */
import { type AttemptFact, type LogEvent, type Message } from "@posthaste/domain";
import { base64Body } from "./body.ts";
import { configurationJson } from "./configuration.ts";
import { readableHeaders, readableHeadersIfAny } from "./hidden.ts";
import { type ReadView, bodyView } from "./message.ts";
import { type JsonOf, type logEntrySchema } from "./schemas.ts";

export type LogEntryJson = JsonOf<typeof logEntrySchema>;

export type LoggedEvent = {
  readonly event: LogEvent;
  readonly message: Omit<Message, "body">;
  readonly fact?: AttemptFact;
  /** Of the message, while it or its dead letter exists (decisions.md 13). */
  readonly body?: Uint8Array;
};

export function logEntryJson(logged: LoggedEvent, view: ReadView): LogEntryJson {
  const { event, message, fact } = logged;
  const { redaction, callback, failureCallback, retryDelay } = message.policy;
  const { sha256 } = view;
  const callbackHeaders = readableHeadersIfAny(callback?.headers, redaction, sha256);
  const failureCallbackHeaders = readableHeadersIfAny(failureCallback?.headers, redaction, sha256);
  const body = base64Body(logged.body, bodyView(message, view));
  const next = event.state === "RETRY" ? fact?.nextDeliveryAt : undefined;
  return {
    time: event.at,
    messageId: message.id,
    state: event.state,
    ...configurationJson(message),
    ...(next !== undefined && { nextDeliveryTime: next }),
    header: readableHeaders(message.headers, redaction, sha256),
    ...(body !== undefined && { body }),
    ...(callbackHeaders && { callbackHeaders }),
    ...(failureCallbackHeaders && { failureCallbackHeaders }),
    // Clients read either name.
    ...(retryDelay !== undefined && { retryDelayExpr: retryDelay }),
    ...(event.state === "ERROR" && fact && errorJson(message, fact, view)),
  };
}

/** What went wrong: the answer, or why there was none. */
function errorJson(message: Omit<Message, "body">, fact: AttemptFact, view: ReadView) {
  const { response, error } = fact;
  if (!response) return error === undefined ? {} : { error };
  const headers = readableHeaders(response.headers, message.policy.redaction, view.sha256);
  const body = base64Body(response.body, bodyView(message, view));
  return {
    ...(error !== undefined && { error }),
    responseStatus: response.status,
    // Clients read either name.
    responseHeaders: headers,
    responseHeader: headers,
    ...(body !== undefined && { responseBody: body }),
  };
}

/** A page of `GET /v2/events`. The cursor is left out at the end. */
export const eventPageJson = (events: readonly LogEntryJson[], cursor?: string) => ({
  ...(cursor !== undefined && { cursor }),
  events,
});

/** A page of `GET /v2/logs`: both keys, since clients read either. */
export const logPageJson = (events: readonly LogEntryJson[], cursor?: string) => ({
  ...eventPageJson(events, cursor),
  logs: events,
});

/** `groupBy=messageId`: the events of each message together, in the order in which the messages came. */
export function groupedLogPageJson(events: readonly LogEntryJson[], cursor?: string) {
  const byMessage = new Map<string, LogEntryJson[]>();
  for (const event of events) {
    const together = byMessage.get(event.messageId);
    if (together) together.push(event);
    else byMessage.set(event.messageId, [event]);
  }
  const messages = [...byMessage].map(([messageId, own]) => ({ messageId, events: own }));
  return { ...(cursor !== undefined && { cursor }), messages };
}
