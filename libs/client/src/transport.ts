/** Sends a call over any exchange. Checks it first, and repeats it where that is safe. */
import { isHeaderName, isHeaderValue } from "./header.ts";
import { InvalidCall } from "./invalid-call.ts";
import { pause } from "./pause.ts";
import { type Failure, type FailureCode, PosthasteError } from "./refusal.ts";
import { mayRepeat } from "./repeat.ts";

export type TransportOptions = {
  readonly url: string;
  readonly authorization: string;
  /** The number of repeats of a call that may be repeated. Default 2. */
  readonly retriesMax?: number | undefined;
  /** The time of one attempt, to the last byte of the answer. Default 30 s. */
  readonly timeoutMs?: number | undefined;
  /** Ends every call that has no signal of its own. */
  readonly signal?: AbortSignal | undefined;
};

export type Call = {
  readonly method: string;
  /** Includes the query. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
  /** A repeat has no further effect. */
  readonly isRepeatable: boolean;
  readonly signal?: AbortSignal | undefined;
  readonly timeoutMs?: number | undefined;
};

export type Transport = {
  /** Returns the parsed body of the answer, or undefined for an empty one. */
  readonly send: (call: Call) => Promise<unknown>;
  readonly close: () => void;
};

type ExchangeRequest = {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array | undefined;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

type Exchanged =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly header: (name: string) => string | null | undefined;
      readonly text: string;
    }
  /** `isUnsent`: the request cannot have had an effect. */
  | { readonly kind: "failed"; readonly isUnsent: boolean; readonly cause: unknown };

/** An exchange carries one request, follows no redirect, and repeats nothing. */
export type Exchange = {
  readonly exchange: (request: ExchangeRequest) => Promise<Exchanged>;
  readonly close: () => void;
};

const retriesDefault = 2;
const timeoutMsDefault = 30_000;
/** The longest wait that the transport obeys. Beyond it the call fails, and the caller repeats it later. */
const retryAfterMsMax = 10_000;
const firstDelayMs = 200;
const delayMsMax = 5_000;

export function createTransport(
  options: TransportOptions,
  { close, exchange }: Exchange,
): Transport {
  const base = baseOf(options.url);
  const { authorization, retriesMax = retriesDefault, timeoutMs = timeoutMsDefault } = options;

  async function send(call: Call): Promise<unknown> {
    const { method, path, body, isRepeatable } = call;
    const signal = call.signal ?? options.signal;
    const request = {
      ...{ url: base + path, method: method.toUpperCase(), body, signal },
      headers: sendable({ authorization, ...call.headers }),
      timeoutMs: call.timeoutMs ?? timeoutMs,
    };
    for (let attempt = 1; ; attempt++) {
      signal?.throwIfAborted();
      const exchanged = await exchange(request);
      signal?.throwIfAborted();
      if (exchanged.kind === "answered" && isSuccess(exchanged.status))
        return parsed(exchanged.text);
      const failure = failureOf(exchanged);
      const delayMs = attempt > retriesMax ? 0 : delayOf(attempt, failure, isRepeatable);
      if (delayMs === 0) throw new PosthasteError(textOf(exchanged, failure, base), failure);
      await pause(delayMs, signal);
    }
  }
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

/** Refuses invalid headers early: refused while sending, they would look like a missing answer. */
function sendable(headers: Call["headers"]): Call["headers"] {
  for (const [name, value] of Object.entries(headers)) {
    if (!isHeaderName(name)) throw new InvalidCall(`${JSON.stringify(name)}: is not a header name`);
    if (!isHeaderValue(value))
      throw new InvalidCall(`${name}: has a character that a header may not have`);
  }
  return headers;
}

/** Returns the delay before the next attempt, or 0 for none. */
function delayOf(attempt: number, failure: Failure, isRepeatable: boolean): number {
  if (!mayRepeat(failure, isRepeatable)) return 0;
  const { retryAfterSeconds } = failure;
  if (retryAfterSeconds === undefined)
    return Math.min(firstDelayMs * 2 ** (attempt - 1), delayMsMax);
  const retryAfterMs = retryAfterSeconds * 1_000;
  return retryAfterMs > retryAfterMsMax ? 0 : Math.max(1, retryAfterMs);
}

const isSuccess = (status: number): boolean => status >= 200 && status <= 299;

function failureOf(exchanged: Exchanged): Failure {
  if (exchanged.kind === "failed") {
    const { cause, isUnsent } = exchanged;
    return { code: isUnsent ? "unreachable" : "no_answer", cause };
  }
  const { header, status } = exchanged;
  const seconds = Number(header("retry-after") ?? NaN);
  return {
    code: (header("posthaste-fault") as FailureCode | null | undefined) ?? "unexpected_answer",
    status,
    ...(Number.isFinite(seconds) && { retryAfterSeconds: seconds }),
  };
}

function textOf(exchanged: Exchanged, { code, status }: Failure, base: string): string {
  if (exchanged.kind === "answered")
    return said(exchanged.text) ?? `${base} has answered with ${status}`;
  const { cause } = exchanged;
  const { message: why = String(cause) } = Object(cause) as { readonly message?: string };
  return code === "unreachable"
    ? `${base} cannot be reached: ${why}`
    : `${base} has not answered: ${why}`;
}

/** Returns the text of `{"error": text}`. */
function said(body: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    if (typeof parsed !== "object" || parsed === null || !("error" in parsed)) return undefined;
    return typeof parsed.error === "string" ? parsed.error : undefined;
  } catch {
    return undefined;
  }
}

function parsed(text: string): unknown {
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new PosthasteError("the answer is not JSON", { code: "unexpected_answer", cause });
  }
}
