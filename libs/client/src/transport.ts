/** One request and its answer, on got: time-outs, connections that are kept, repeats where they are safe. */
import { Agent as HttpAgent, validateHeaderName, validateHeaderValue } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import got, { type RequestError } from "got";
import { type Failure, type FailureCode, PosthasteError } from "./refusal.ts";
import { mayRepeat } from "./repeat.ts";
import { InvalidCall } from "./invalid-call.ts";

export type TransportOptions = {
  readonly url: string;
  readonly authorization: string;
  /** Repeats of a call that may be repeated. Default 2. */
  readonly retriesMax?: number | undefined;
  /** Of one attempt, from its beginning to the last byte of the answer. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Ends all calls that have no signal of their own. */
  readonly signal?: AbortSignal | undefined;
};

export type Call = {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** Done twice it is done once. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
};

export type Transport = {
  /** What the answer's body says; undefined when it is empty. */
  readonly send: (call: Call) => Promise<unknown>;
  readonly close: () => void;
};

const retriesDefault = 2;
const timeoutMsDefault = 30_000;
const connectMsMax = 5_000;
/** A server that asks for more is better asked by the caller, later. */
const retryAfterMsMax = 10_000;
const firstDelayMs = 200;
const delayMsMax = 5_000;
const userAgent = "posthaste-client";

export function createTransport(options: TransportOptions): Transport {
  const base = baseOf(options.url);
  const { authorization, retriesMax = retriesDefault, timeoutMs = timeoutMsDefault } = options;
  const agent = {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  };

  async function send(call: Call): Promise<unknown> {
    const { method, path, headers, body, isRepeatable } = call;
    const signal = call.signal ?? options.signal;
    const asked = got(base + path, {
      method: method.toUpperCase() as "GET",
      headers: sendable({ authorization, "user-agent": userAgent, ...headers }),
      ...(body !== undefined && { body }),
      agent,
      followRedirect: false,
      timeout: { connect: connectMsMax, request: call.timeoutMs ?? timeoutMs },
      ...(signal && { signal }),
      retry: {
        limit: retriesMax,
        // Its own rules go by the method alone.
        enforceRetryRules: false,
        calculateDelay: ({ attemptCount, error, retryAfter }) =>
          attemptCount > retriesMax || !mayRepeat(failureOf(error), isRepeatable)
            ? 0
            : delayOf(attemptCount, retryAfter),
      },
    });
    const { body: text } = await asked.catch((error: unknown) => {
      signal?.throwIfAborted();
      throw isOfTheRequest(error) ? problem(error, base) : error;
    });
    return text === "" ? undefined : parse(text);
  }

  const close = () => {
    agent.http.destroy();
    agent.https.destroy();
  };
  return { send, close };
}

function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:")
    throw new InvalidCall(
      `url: must begin with http:// or https://, and is ${JSON.stringify(text)}`,
    );
  return `${url.origin}${url.pathname.replace(/\/+$/, "")}`;
}

/** What Node refuses while it sends looks as if the server had not answered. */
function sendable(headers: Call["headers"]): Call["headers"] {
  for (const [name, value] of Object.entries(headers)) {
    if (fails(() => validateHeaderName(name)))
      throw new InvalidCall(`${JSON.stringify(name)}: is no name of a header`);
    if (fails(() => validateHeaderValue(name, value)))
      throw new InvalidCall(`${name}: has a character that no header may have`);
  }
  return headers;
}

function fails(check: () => void): boolean {
  try {
    check();
    return false;
  } catch {
    return true;
  }
}

/** 0: it is not made again. */
function delayOf(attempt: number, retryAfterMs: number | undefined): number {
  if (retryAfterMs === undefined) return Math.min(firstDelayMs * 2 ** (attempt - 1), delayMsMax);
  return retryAfterMs > retryAfterMsMax ? 0 : Math.max(1, retryAfterMs);
}

/** By what it has: a package that is there twice has two classes of one name. */
const isOfTheRequest = (error: unknown): error is RequestError =>
  typeof error === "object" && error !== null && "code" in error && "options" in error;

/** Before a connection stands nothing is sent. */
const unsent: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ENETUNREACH",
  "EHOSTUNREACH",
]);
const connecting: ReadonlySet<unknown> = new Set(["lookup", "connect", "secureConnect"]);

function failureOf(error: RequestError): Failure {
  const { response } = error;
  if (!response) {
    const isUnsent = unsent.has(error.code) || ("event" in error && connecting.has(error.event));
    return { code: isUnsent ? "unreachable" : "no_answer", cause: error };
  }
  const given = response.headers["posthaste-fault"];
  const seconds = Number(response.headers["retry-after"] ?? NaN);
  return {
    code: typeof given === "string" ? (given as FailureCode) : "unexpected_answer",
    status: response.statusCode,
    ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
  };
}

function problem(error: RequestError, base: string): PosthasteError {
  const failure = failureOf(error);
  return new PosthasteError(textOf(failure, error, base), failure);
}

function textOf({ code, status }: Failure, error: RequestError, base: string): string {
  if (code === "unreachable") return `${base} cannot be reached: ${error.message}`;
  if (status === undefined) return `${base} has not answered: ${error.message}`;
  return said(error.response?.body) ?? `${base} has answered with ${status}`;
}

/** `{"error": text}`. */
function said(body: unknown): string | undefined {
  try {
    const parsed: unknown = JSON.parse(String(body));
    if (typeof parsed !== "object" || parsed === null || !("error" in parsed)) return undefined;
    return typeof parsed.error === "string" ? parsed.error : undefined;
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PosthasteError("the answer is no JSON", { code: "unexpected_answer", cause });
  }
}
