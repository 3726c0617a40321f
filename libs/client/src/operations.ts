/** A method for each operation, made from the tables of routes: what it takes and answers follows from its row. */
import { type Operations, type Parameter, type Settings } from "./api.ts";
import { settingHeaders } from "./settings.ts";
import { type Transport } from "./transport.ts";
import { InvalidCall } from "./invalid-call.ts";

type OperationId = keyof Operations;

/** `get messages/{messageId}` of each operation. */
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
  /** Sent as JSON; bytes and texts are sent as they are. */
  readonly body?: BodyOf<Id>;
  /** Configuration headers: where a dead letter is retried or a run restarted, they replace what was stored. */
  readonly settings?: Settings;
};

/** Where a body has something that must be there, so must the body. */
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

/** Of a table, by names that are nice to read. */
export type Methods<R extends Routes, Names extends Readonly<Record<string, keyof R>>> = {
  readonly [Name in keyof Names]: Method<Names[Name] & OperationId, R[Names[Name]]>;
};

/** What any method is asked, when its types have been seen to. */
export type AnyAsked = CallOptions & {
  readonly query?: Readonly<Record<string, Parameter | undefined>>;
  readonly body?: unknown;
  readonly settings?: Settings;
};

/** Before each path of the tables. */
export const version = "/v2/";

/** `args`: the parameters of the path, and what is asked. */
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

/** Without its last part a path is that of all: an empty one must never be sent. */
export function pathPart(name: string, value: unknown): string {
  if (typeof value !== "string" || value === "" || value === "." || value === "..")
    throw new InvalidCall(`${name}: must be a text that is not empty, and is ${shown(value)}`);
  return encodeURIComponent(value);
}

/** A filter that is lost makes more match: what is not there is refused where the call changes something. */
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
