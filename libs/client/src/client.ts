/** The client of the gateway's API. Each resource has methods; each method is an operation of docs/openapi.json. */
import { gatewayRoutes, type LogEntry } from "./api.ts";
import { followed, type FollowOptions, type FollowQuery } from "./follow.ts";
import {
  type AnswerOf,
  type AnyAsked,
  type ArgumentsOf,
  type Asked,
  callRoute,
  type CallOptions,
  type Methods,
  type QueryOf,
} from "./operations.ts";
import { type ElementOf, elementsOf, type ListId, type PagedId, pagesOf } from "./pages.ts";
import { createPublishing, type Publishing } from "./publishing.ts";
import { overFetch } from "./over-fetch.ts";
import {
  createTransport,
  type Exchange,
  type Transport,
  type TransportOptions,
} from "./transport.ts";

type Routes = typeof gatewayRoutes;
type GatewayId = keyof Routes;

/**
 * The named operations. An operation that is missing here is another spelling of a named one, or serves workflow
 * clients; `call` takes any.
 */
const resources = {
  messages: {
    read: "readMessage",
    cancel: "cancelMessage",
    cancelMany: "cancelMessages",
    deliverNow: "runMessageNow",
  },
  log: { events: "listEvents", grouped: "listLogs", counts: "listCounts" },
  overview: { read: "readOverview" },
  audit: { list: "listChanges" },
  bulkActions: { list: "listBulkActions", read: "readBulkAction" },
  deadLetters: {
    list: "listDeadLetters",
    read: "readDeadLetter",
    remove: "removeDeadLetter",
    removeMany: "removeDeadLetters",
    retry: "retryDeadLetter",
    retryMany: "retryDeadLetters",
  },
  schedules: {
    list: "listSchedules",
    read: "readSchedule",
    remove: "removeSchedule",
    pause: "pauseSchedule",
    resume: "resumeSchedule",
  },
  queues: {
    list: "listQueues",
    read: "readQueue",
    upsert: "upsertQueue",
    remove: "removeQueue",
    pause: "pauseQueue",
    resume: "resumeQueue",
  },
  groups: {
    list: "listGroups",
    read: "readGroup",
    configure: "configureGroup",
    remove: "removeGroup",
    addEndpoints: "upsertEndpoints",
    removeEndpoints: "removeEndpoints",
  },
  flow: {
    list: "listFlowKeys",
    read: "readFlowKey",
    pause: "pauseFlowKey",
    resume: "resumeFlowKey",
    pin: "pinFlowKey",
    unpin: "unpinFlowKey",
    resetRate: "resetFlowRate",
    reset: "resetFlowKey",
    readGlobalParallelism: "readGlobalParallelism",
  },
  runs: {
    list: "listRunLogs",
    events: "listRunEvents",
    messages: "listRunMessages",
    readHistory: "readRunHistory",
    end: "endRun",
    cancelMany: "cancelRuns",
    notify: "notifyEvent",
    notifyOne: "notifyRun",
    listWaiters: "listWaiters",
  },
  failedRuns: {
    list: "listFailedRuns",
    read: "readFailedRun",
    remove: "removeFailedRun",
    removeMany: "removeFailedRuns",
    restart: "restartRun",
    restartMany: "restartRuns",
    resume: "resumeRun",
    resumeMany: "resumeRuns",
    tellFailureAgain: "tellFailureAgain",
    cancelFailureFunction: "cancelFailureFunction",
  },
  me: { read: "readMe" },
  keys: { read: "readKeys", rotate: "rotateKeys" },
} as const satisfies Readonly<Record<string, Readonly<Record<string, GatewayId>>>>;

type Resources = {
  readonly [Name in keyof typeof resources]: Methods<Routes, (typeof resources)[Name]>;
};

export type Client = Publishing &
  Resources & {
    call<Id extends GatewayId>(id: Id, ...args: ArgumentsOf<Id, Routes[Id]>): Promise<AnswerOf<Id>>;
    /** Yields answer after answer until one has no cursor, as for a bulk operation by a filter. */
    pages<Id extends PagedId & GatewayId>(
      id: Id,
      asked?: Asked<Id>,
    ): AsyncGenerator<AnswerOf<Id>, void, undefined>;
    /** Yields every element of a list, page by page. */
    each<Id extends ListId>(
      id: Id,
      query?: QueryOf<Id>,
      options?: CallOptions,
    ): AsyncGenerator<ElementOf<Id>, void, undefined>;
    /** Yields the events of messages as they happen, each once. Waits for the next. */
    follow(query?: FollowQuery, options?: FollowOptions): AsyncGenerator<LogEntry, void, undefined>;
    /** Ends the kept connections. */
    close(): void;
  };

export type ClientOptions = Omit<TransportOptions, "authorization"> & {
  /** A full or a read-only token. */
  readonly token: string;
};

export const createClient = (options: ClientOptions): Client => clientOver(options, overFetch());

export function clientOver({ token, ...options }: ClientOptions, exchange: Exchange): Client {
  const transport = createTransport({ ...options, authorization: `Bearer ${token}` }, exchange);
  const call = (id: GatewayId, ...args: readonly unknown[]): Promise<unknown> =>
    callRoute(transport, gatewayRoutes[id], args);
  async function* each(id: ListId, query: AnyAsked["query"] = {}, options: CallOptions = {}) {
    const asked = { query, ...options };
    for await (const page of pagesOf((of) => call(id, of), asked)) {
      const elements = (page as Readonly<Record<string, unknown>>)[elementsOf[id]];
      if (Array.isArray(elements)) yield* elements;
    }
  }
  const client = {
    ...createPublishing(transport),
    ...methodsOf(resources, gatewayRoutes, transport),
    call,
    pages: (id: GatewayId, asked: AnyAsked = {}) => pagesOf((of) => call(id, of), asked),
    each,
    follow: (query: FollowQuery = {}, options: FollowOptions = {}) =>
      followed(
        (of) => call("listEvents", of) as ReturnType<Client["log"]["events"]>,
        query,
        options,
      ),
    close: transport.close,
  };
  // Answers are trusted to have the types of docs/openapi.json.
  return client as unknown as Client;
}

type Tables = Readonly<Record<string, Readonly<Record<string, string>>>>;

export function methodsOf(
  tables: Tables,
  routes: Readonly<Record<string, string>>,
  transport: Transport,
): object {
  const methodOf =
    (id: string) =>
    async (...args: readonly unknown[]) =>
      callRoute(transport, routes[id] ?? "", args);
  return Object.fromEntries(
    Object.entries(tables).map(([name, ids]) => [
      name,
      Object.fromEntries(Object.entries(ids).map(([method, id]) => [method, methodOf(id)])),
    ]),
  );
}
