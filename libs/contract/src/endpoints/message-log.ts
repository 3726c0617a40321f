/** The message log: the events of messages (docs/design/wire#the-message-log). Every entry of a message has its configuration. */
import {
  type AttemptFact,
  type Configuration,
  dlqIdOf,
  idOfRetriedLetter,
  type Fault,
  isFault,
  type ListOrder,
  type LogEvent,
  type LogFilter,
  type LogState,
  logStates,
} from "@posthaste/domain";
import * as z from "zod";
import { field, type Fields, namesOf, place, readFields } from "../queries/fields.ts";
import { messageFields } from "../queries/message-filter.ts";
import { type PageQuery, pageNames, parsePage } from "../queries/page.ts";
import {
  type QueryValues,
  integer,
  parameterFault,
  readQuery,
  several,
  single,
  withoutEffect,
} from "../queries/query-values.ts";
import { attemptErrorText } from "../representations/attempt-error.ts";
import { type ReadView, base64Body, bodyView } from "../representations/body.ts";
import { configurationJson, configurationShape } from "../representations/configuration.ts";
import { readableHeaders, readableHeadersIfAny } from "../representations/hidden.ts";
import {
  type JsonOf,
  cursorShape,
  headersShape,
  millisecondsShape,
} from "../representations/schemas.ts";
import { endpoint } from "./endpoint.ts";
import { answeredJson, answeredShape } from "./messages.ts";

export const logEntrySchema = z
  .object({
    time: millisecondsShape,
    messageId: z.string(),
    state: z.enum(logStates),
    ...configurationShape,
    error: z.string().optional(),
    nextDeliveryTime: millisecondsShape.optional(),
    header: headersShape,
    body: z.string().optional().describe("Base64, while the message or its dead letter exists"),
    callbackHeaders: headersShape.optional(),
    failureCallbackHeaders: headersShape.optional(),
    retryDelayExpr: z.string().optional().describe("The same as retryDelayExpression"),
    callerIP: z.string(),
    ...answeredShape,
    responseStatus: z.int().optional().describe("On ERROR only, as are the other response fields"),
    responseHeaders: headersShape.optional(),
    responseHeader: headersShape.optional().describe("The same as responseHeaders"),
    responseBody: z.string().optional().describe("Base64"),
    truncated: z
      .literal(true)
      .optional()
      .describe("The answer is incomplete: it broke off, or is longer than the kept part"),
    dlqId: z
      .string()
      .optional()
      .describe(
        "On FAILED only: the id of the dead letter, which may have been retried or removed since",
      ),
    retryMessageId: z
      .string()
      .optional()
      .describe("On FAILED only: the id of the message that a retry of the dead letter makes"),
  })
  .meta({ id: "LogEntry" });

export type LogEntryJson = JsonOf<typeof logEntrySchema>;

export type LogQuery = {
  readonly filter: LogFilter;
  readonly page: PageQuery;
  /** Whether the answer has one item for each message, with its events. */
  readonly byMessage: boolean;
};

export type EventQuery = LogQuery & {
  /** How long the answer waits for events after the cursor. */
  readonly waitMs?: number;
};

const fields: Fields<LogFilter> = {
  ...messageFields,
  states: field(["state"], parseStates),
  ...place,
};
const listParameters = [...namesOf(fields), ...pageNames];
export const logParameters: ReadonlySet<string> = new Set([...listParameters, "groupBy"]);
const eventParameters: ReadonlySet<string> = new Set([...listParameters, "wait"]);

const query = { names: logParameters, parse: parseLogQuery };
const eventQuery = { names: eventParameters, parse: parseEventQuery };
const events = z.array(logEntrySchema);

export const messageLog = {
  listEvents: endpoint({
    method: "get",
    path: "/v2/events",
    kind: "list",
    summary: "List the events of messages, newest first; with wait, follow the log",
    query: eventQuery,
    answers: {
      200: { says: "A page", schema: z.object({ cursor: cursorShape, events }), isLarge: true },
    },
    faults: [],
  }),
  listLogs: endpoint({
    method: "get",
    path: "/v2/logs",
    kind: "list",
    summary: "The same as /v2/events, also grouped by message",
    query,
    answers: {
      200: {
        says: "A page of events; with groupBy=messageId, of messages with their events",
        schema: z.union([
          z.object({ cursor: cursorShape, events, logs: events }),
          z.object({
            cursor: cursorShape,
            messages: z.array(z.object({ messageId: z.string(), events })),
          }),
        ]),
        isLarge: true,
      },
    },
    faults: [],
  }),
};

const eventsMax = 1_000;
const messagesMax = 10;

/** `search` is the text after the `?`. */
export function parseLogQuery(search: string): LogQuery | Fault {
  const values = readQuery(search, logParameters, withoutEffect);
  return isFault(values) ? values : logQueryOf(values, "latestFirst");
}

const waitSecondsMax = 60;

export function parseEventQuery(search: string): EventQuery | Fault {
  const values = readQuery(search, eventParameters, withoutEffect);
  if (isFault(values)) return values;
  const seconds = integer(values, "wait", { min: 1, max: waitSecondsMax });
  if (isFault(seconds)) return seconds;
  if (seconds === undefined) return logQueryOf(values, "latestFirst");
  const lists = logQueryOf(values, "earliestFirst");
  if (isFault(lists)) return lists;
  if (lists.page.order === "latestFirst")
    return parameterFault("order", "must be earliestFirst with wait");
  if (values.has("toDate")) return parameterFault("toDate", "cannot be given with wait");
  return { ...lists, waitMs: seconds * 1_000 };
}

function logQueryOf(values: QueryValues, order: ListOrder): LogQuery | Fault {
  const filter = readFields(fields, values);
  if (isFault(filter)) return filter;
  const groupBy = single(values, "groupBy");
  if (isFault(groupBy)) return groupBy;
  if (groupBy !== undefined && groupBy !== "messageId") {
    return parameterFault("groupBy", "must be messageId");
  }
  const byMessage = groupBy !== undefined;
  const countMax = byMessage ? messagesMax : eventsMax;
  const page = parsePage(values, { countDefault: countMax, countMax, order });
  return isFault(page) ? page : { filter, page, byMessage };
}

/** The states, a pseudo-state, and the spelling with two Ls. */
const stateNames: ReadonlyMap<string, readonly LogState[]> = new Map<string, readonly LogState[]>([
  ...logStates.map((state): [string, readonly LogState[]] => [state, [state]]),
  ["CANCELLED", ["CANCELED"]],
  ["IN_PROGRESS", ["ACTIVE", "RETRY", "ERROR"]],
]);

function parseStates(values: QueryValues): readonly LogState[] | undefined | Fault {
  const names = several(values, ["state"]);
  if (!names || isFault(names)) return names;
  const states = new Set<LogState>();
  for (const name of names) {
    const meant = stateNames.get(name);
    if (!meant)
      return parameterFault("state", `must be one of ${[...stateNames.keys()].join(", ")}`);
    for (const state of meant) states.add(state);
  }
  return [...states];
}

export type LoggedEvent = {
  readonly event: LogEvent;
  readonly message: Configuration;
  readonly fact?: AttemptFact;
  /** The message's body, while the message or its dead letter exists (docs/design/wire#the-message-log). */
  readonly body?: Uint8Array;
};

export type LogView = ReadView & {
  /** Returns the position that begins the ids which the store makes at a time. */
  readonly positionAt: (time: number) => number;
};

export function logEntryJson(logged: LoggedEvent, view: LogView): LogEntryJson {
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
    ...(event.state === "DELIVERED" && answeredJson(event.answered)),
    ...(event.state === "ERROR" && fact && errorJson(message, fact, view)),
    ...(event.state === "FAILED" && letterJson(message, event.at, view)),
  };
}

function letterJson({ id, tenant }: Configuration, failedAt: number, view: LogView) {
  const dlqId = dlqIdOf(id, failedAt);
  const position = view.positionAt(failedAt);
  return { dlqId, retryMessageId: idOfRetriedLetter(tenant, dlqId, position, view.sha256) };
}

/** Returns the answer, or why there was none. */
function errorJson(message: Configuration, fact: AttemptFact, view: ReadView) {
  const { answered, response } = fact;
  const error = attemptErrorText(fact, message.url, message.policy.redaction);
  if (!response) return error === undefined ? {} : { error };
  const headers = readableHeaders(response.headers, message.policy.redaction, view.sha256);
  const body = base64Body(response.body, bodyView(message, view));
  return {
    ...(error !== undefined && { error }),
    ...answeredJson(answered),
    responseStatus: response.status,
    // Clients read either name.
    responseHeaders: headers,
    responseHeader: headers,
    ...(body !== undefined && { responseBody: body }),
    ...(response.truncated && { truncated: true as const }),
  };
}

/** A page of `GET /v2/events`. The last page has no cursor. */
export const eventPageJson = (events: readonly LogEntryJson[], cursor?: string) => ({
  ...(cursor !== undefined && { cursor }),
  events,
});

/** A page of `GET /v2/logs`, with both keys, since clients read either. */
export const logPageJson = (events: readonly LogEntryJson[], cursor?: string) => ({
  ...eventPageJson(events, cursor),
  logs: events,
});

/** With `groupBy=messageId`: the events of each message together, in the order in which the messages came. */
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
