/** Makes a method for each operation of the route tables. The operation's row types its arguments and its answer. */
import { type Operations, type Parameter, type Settings } from "./api.ts";
import { settingHeaders } from "./settings.ts";
import { type Transport } from "./transport.ts";
import { InvalidCall } from "./invalid-call.ts";

type OperationId = keyof Operations;

/** The route of each operation, such as `get messages/{messageId}`. */
type Routes = Readonly<Partial<Record<OperationId, string>>>;

type ParametersOf<Route> = Route extends `${string}{${string}}${infer Rest}`
  ? [name: string, ...ParametersOf<Rest>]
  : [];

type BodyOf<Id extends OperationId> = Operations[Id] extends { body: infer Body }
  ? Body
  : string | Uint8Array;
export type QueryOf<Id extends OperationId> = Operations[Id] extends { query: infer Query }
  ? Query
  : { readonly [name: string]: never };
export type AnswerOf<Id extends OperationId> = Operations[Id]["answer"];

export type CallOptions = {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
};

export type Asked<Id extends OperationId> = CallOptions & {
  readonly query?: QueryOf<Id>;
  /** Sent as JSON; bytes and strings are sent unchanged. */
  readonly body?: BodyOf<Id>;
  /** Configuration headers. For the retry of a dead letter or the restart of a run they replace the stored ones. */
  readonly settings?: Settings;
};

/** Requires the body where one of its fields is required. */
type AskedArguments<Id extends OperationId> = Operations[Id] extends { body: infer Body }
  ? object extends Body
    ? [asked?: Asked<Id>]
    : [asked: Asked<Id> & { readonly body: Body }]
  : [asked?: Asked<Id>];

export type ArgumentsOf<Id extends OperationId, Route> = [
  ...ParametersOf<Route>,
  ...AskedArguments<Id>,
];
type Method<Id extends OperationId, Route> = (
  ...args: ArgumentsOf<Id, Route>
) => Promise<AnswerOf<Id>>;

/** The methods of a resource, from method name to operation. */
export type Methods<R extends Routes, Names extends Readonly<Record<string, keyof R>>> = {
  readonly [Name in keyof Names]: Method<Names[Name] & OperationId, R[Names[Name]]>;
};

/** The arguments of any operation, with their types erased. */
export type AnyAsked = CallOptions & {
  readonly query?: Readonly<Record<string, Parameter | undefined>>;
  readonly body?: unknown;
  readonly settings?: Settings;
};

/** The prefix of every path in the route tables. */
export const version = "/v2/";

/** Calls a route. `args` holds the path's parameters, then the query, body and options. */
export async function callRoute(
  transport: Transport,
  route: string,
  args: readonly unknown[],
): Promise<unknown> {
  const [method = "", template = ""] = route.split(" ");
  const names = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  let path = template;
  for (const [i, name] of names.entries())
    path = path.replace(`{${name}}`, pathPart(name, args[i]));
  const asked = (args[names.length] ?? {}) as AnyAsked;
  const isRead = method === "get";
  return transport.send({
    method,
    path: `${version}${path}${searchOf(asked.query ?? {}, isRead)}`,
    headers: { ...settingHeaders(asked.settings ?? {}), ...typeOf(asked.body) },
    body: bodyOf(asked.body, isRead),
    isRepeatable: isRead,
    signal: asked.signal,
    timeoutMs: asked.timeoutMs,
  });
}

/** Returns a path segment. Refuses an empty one: without its last segment a path names the whole collection. */
export function pathPart(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value === "." || value === "..")
    throw new InvalidCall(`${name}: must be a text that is not empty, and is ${shown(value)}`);
  return encodeURIComponent(value);
}

/** Returns the query string. A lost filter matches more, so an operation that changes something refuses undefined and empty values. */
function searchOf(query: NonNullable<AnyAsked["query"]>, isRead: boolean): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined && isRead) continue;
    const values = [value].flat();
    if (value === undefined || values.length === 0)
      throw new InvalidCall(`query.${name}: is ${shown(value)}; leave it out when you mean all`);
    for (const each of values) search.append(name, String(each));
  }
  return search.size === 0 ? "" : `?${search.toString()}`;
}

const isRaw = (body: unknown): body is string | Uint8Array =>
  typeof body === "string" || body instanceof Uint8Array;

const typeOf = (body: unknown): Readonly<Record<string, string>> =>
  body === undefined || isRaw(body) ? {} : { "content-type": "application/json" };

function bodyOf(body: unknown, isRead: boolean): string | Uint8Array | undefined {
  if (body === undefined || isRaw(body)) return body;
  const lost = Object.entries(Object(body) as object).find(([, value]) => value === undefined);
  if (lost && !isRead)
    throw new InvalidCall(`body.${lost[0]}: is undefined; leave it out when you mean all`);
  return JSON.stringify(body);
}

const shown = (value: unknown): string => JSON.stringify(value) ?? String(value);
