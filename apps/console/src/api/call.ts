/** Calls the API of the console's own server: same origin, one folder above. The types are those of docs/openapi.json. */
import { gatewayRoutes, managementRoutes, type Operations } from "@posthaste/client/api";
import { shown } from "./text.ts";

const routes = { ...gatewayRoutes, ...managementRoutes };
type Routes = typeof routes;

export type OperationId = keyof Routes;
export type AnswerOf<Id extends OperationId> = Operations[Id]["answer"];
type QueryOf<Id extends OperationId> = Operations[Id] extends { query: infer Query }
  ? Query
  : Readonly<Record<string, never>>;
type BodyOf<Id extends OperationId> = Operations[Id] extends { body: infer Body } ? Body : never;
type ParametersOf<Route> = Route extends `${string}{${string}}${infer Rest}`
  ? readonly [part: string, ...ParametersOf<Rest>]
  : readonly [];

/** One call of an operation. `params`: the path's parameters, in order. */
export type Asked<Id extends OperationId = OperationId> = {
  readonly id: Id;
  readonly params?: ParametersOf<Routes[Id]>;
  readonly query?: QueryOf<Id>;
  readonly body?: BodyOf<Id>;
};

/** `status` is 0 without an answer, or for one that is not this API's. */
export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export type Answered<Id extends OperationId> = {
  readonly answer: AnswerOf<Id>;
  /** The cursor of lists that return it in a header. */
  readonly nextCursor: string | undefined;
};

export async function call<Id extends OperationId>(
  session: string,
  asked: Asked<Id>,
  signal?: AbortSignal,
  base?: URL,
): Promise<AnswerOf<Id>> {
  return (await callWhole(session, asked, signal, base)).answer;
}

export async function callWhole<Id extends OperationId>(
  session: string,
  asked: Asked<Id>,
  signal?: AbortSignal,
  base = apiBase(),
): Promise<Answered<Id>> {
  const [method, path] = addressOf(asked);
  const { body } = asked;
  const { json, headers } = await exchange(session, {
    method,
    url: new URL(path, base),
    ...(body !== undefined && {
      headers: [["Content-Type", "application/json"]],
      body: JSON.stringify(body),
    }),
    ...(signal && { signal }),
  });
  // Answers are trusted to have the types of docs/openapi.json.
  return { answer: json as AnswerOf<Id>, nextCursor: headers.get("Next-Cursor") ?? undefined };
}

export type Sent = {
  /** The path below `/v2/`, such as `publish/https://example.com`. */
  readonly path: string;
  readonly headers: readonly Header[];
  readonly body: string;
};

/** Returns the raw answer, which the caller inspects. */
export async function send(session: string, sent: Sent): Promise<unknown> {
  const { json } = await exchange(session, {
    method: "POST",
    url: new URL(sent.path, apiBase()),
    headers: sent.headers,
    ...(sent.body !== "" && { body: new Blob([sent.body]) }),
  });
  return json;
}

type Header = readonly [name: string, value: string];

type Exchanged = {
  readonly method: string;
  readonly url: URL;
  readonly headers?: readonly Header[];
  readonly body?: BodyInit;
  readonly signal?: AbortSignal;
};

function exchange(session: string, asked: Exchanged) {
  const headers: readonly Header[] = [...(asked.headers ?? []), ["Posthaste-Session", session]];
  return fetched({ ...asked, headers });
}

/** Encodes values as UTF-8 bytes, which is how the server reads them. A browser accepts no other characters. */
function encoded(pairs: readonly Header[]): Headers {
  const headers = new Headers();
  for (const [name, value] of pairs) {
    try {
      headers.append(name, String.fromCharCode(...new TextEncoder().encode(value)));
    } catch {
      throw new Refused(400, `${shown(name)}: is not a header that a browser can send`);
    }
  }
  return headers;
}

/** The browser adds the cookie, which scripts cannot read. */
async function fetched({ url, headers = [], ...asked }: Exchanged) {
  const response = await fetch(url, {
    ...asked,
    headers: encoded(headers),
    credentials: "same-origin",
    cache: "no-store",
  }).catch((reason: unknown) => {
    if (asked.signal?.aborted) throw reason;
    throw new Refused(0, "The server cannot be reached.");
  });
  const json = await jsonOf(response);
  if (!response.ok) throw new Refused(response.status, errorOf(json, response.status));
  return { json, headers: response.headers };
}

export type Role = "admin" | "operator" | "viewer";

/** `provider`: the host at which a browser without a session may sign in. `role`: of an operator. */
export type Entrance = {
  readonly session?: string;
  readonly provider?: string;
  readonly role?: Role;
};

/** Begins a session with these credentials. Without any, returns this browser's session. */
export async function enter(authorization?: string): Promise<Entrance> {
  const { json } = await fetched({
    ...{ method: "POST", url: sessionAddress() },
    ...(authorization !== undefined && { headers: [["Authorization", authorization]] }),
  });
  return Object(json) as Entrance;
}

export async function leave(session: string): Promise<void> {
  await exchange(session, { method: "DELETE", url: sessionAddress() });
}

const sessionAddress = (): URL => new URL("../console/session", document.baseURI);

/** `/console/` is beside `/v2/`, under any path of a proxy. */
export const apiBase = (): URL => new URL("../v2/", document.baseURI);

function addressOf(asked: Asked): readonly [method: string, path: string] {
  const [method = "", template = ""] = routes[asked.id].split(" ");
  const params: readonly string[] = asked.params ?? [];
  let path = template;
  for (const param of params) path = path.replace(/\{\w+\}/, () => encodeURIComponent(param));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked.query ?? {}))
    for (const each of [value].flat()) if (each !== undefined) query.append(name, String(each));
  return [method.toUpperCase(), query.size === 0 ? path : `${path}?${query.toString()}`];
}

/** A proxy may answer with a page of its own. */
async function jsonOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    const type = response.headers.get("Content-Type")?.split(";", 1)[0] ?? "no content type";
    const message = `A proxy between this page and Posthaste answered with status ${response.status} (${shown(type, 60)}).`;
    throw new Refused(response.status === 401 ? 0 : response.status, message);
  }
}

function errorOf(json: unknown, status: number): string {
  const { error } = Object(json) as { readonly error?: unknown };
  return typeof error === "string" && error !== ""
    ? shown(error, 500)
    : `The server answered with status ${status}.`;
}
