/** The API of the server that the console came from: same origin, one folder above it. What it takes and answers has the types of docs/openapi.json. */
import { gatewayRoutes, type Operations } from "@posthaste/client/api";

export type OperationId = keyof typeof gatewayRoutes;
export type AnswerOf<Id extends OperationId> = Operations[Id]["answer"];
export type QueryOf<Id extends OperationId> = Operations[Id] extends { query: infer Query }
  ? Query
  : { readonly [name: string]: never };

/** One call of an operation. */
export type Asked<Id extends OperationId> = {
  readonly id: Id;
  /** Of the path, in its order. */
  readonly params?: ParametersOf<(typeof gatewayRoutes)[Id]>;
  readonly query?: QueryOf<Id>;
};
export type AnyAsked = { [Id in OperationId]: Asked<Id> }[OperationId];

type ParametersOf<Route> = Route extends `${string}{${string}}${infer Rest}`
  ? readonly [part: string, ...ParametersOf<Rest>]
  : readonly [];

export class Refused extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export async function call<Id extends OperationId>(
  token: string,
  asked: Asked<Id>,
): Promise<AnswerOf<Id>> {
  const [method, address] = addressOf(asked);
  const response = await fetch(new URL(`../${address}`, document.baseURI), {
    method,
    headers: { Authorization: `Bearer ${token}` },
    credentials: "omit",
    cache: "no-store",
  });
  const text = await response.text();
  const answered: unknown = text === "" ? {} : JSON.parse(text);
  // What the server answers is taken for what its document says.
  if (response.ok) return answered as AnswerOf<Id>;
  const { error } = Object(answered) as { readonly error?: unknown };
  throw new Refused(response.status, textOf(error) || `the server answered ${response.status}`);
}

function addressOf<Id extends OperationId>(asked: Asked<Id>): readonly [method: string, string] {
  const [method = "", template = ""] = gatewayRoutes[asked.id].split(" ");
  const params: readonly string[] = asked.params ?? [];
  let path = `v2/${template}`;
  for (const param of params) path = path.replace(/\{\w+\}/, () => encodeURIComponent(param));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(asked.query ?? {})) query.set(name, String(value));
  return [method.toUpperCase(), query.size === 0 ? path : `${path}?${query.toString()}`];
}

const controls =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Characters that would hide or turn what is beside them are shown by their number. */
export function textOf(value: unknown, charsMax = 20_000): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  const cut = text.length > charsMax ? `${text.slice(0, charsMax)}…` : text;
  const numbered = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return cut.replace(controls, numbered);
}

/** A body, which the log holds as base64. */
export function bodyOf(value: unknown): string {
  if (typeof value !== "string") return "";
  try {
    return textOf(
      new TextDecoder().decode(Uint8Array.from(atob(value), (char) => char.charCodeAt(0))),
    );
  } catch {
    return textOf(value);
  }
}

export const timeOf = (value: unknown): string => {
  if (typeof value !== "number" || Math.abs(value) > 8.64e15) return textOf(value);
  return value === 0 ? "" : new Date(value).toISOString().replace("T", " ").replace("Z", "");
};
