/** Turns a delivery into an answer: verifies it, handles it once, and says by the status whether to come again. */
import { isHeaderName, isHeaderValue } from "../header.ts";
import { type Claims, type Keys, verifySignature } from "./signature.ts";
import { type Claim, memoryStore, type SeenStore } from "./seen.ts";

export type Delivery = {
  /** The same in all attempts. The signature does not cover it. */
  readonly messageId: string;
  /** The number of earlier attempts. */
  readonly retried: number;
  readonly claims: Claims;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly text: () => string;
  readonly json: () => unknown;
};

export type Reply = {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
};

/** Handles a delivery. An exception is a failure, and the server retries. */
export type Handler = (delivery: Delivery) => Promise<Reply | void> | Reply | void;

export type ReceiverOptions = {
  readonly keys: Keys | (() => Promise<Keys> | Keys);
  /** The URL of this endpoint as it is published to. Set it to refuse deliveries to any other. */
  readonly url?: string;
  /** The store of handled messages. Default: in memory. False handles every delivery. */
  readonly seen?: SeenStore | false;
  /** The seconds by which the clocks may differ. Default 30. */
  readonly toleranceSeconds?: number;
  /**
   * How long a delivery waits while another attempt of the same message is being handled. Default 60. After that it is
   * answered 503, which uses one of the message's retries.
   */
  readonly underwaySecondsMax?: number;
  /** The largest accepted body. Default 16 MiB. */
  readonly bodyBytesMax?: number;
  /** Hears of exceptions and refusals. The server sees only the status. */
  readonly onProblem?: (problem: unknown) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
};

/** The form in which each adapter hands over a request. */
export type Incoming = {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
};

export type Receiver = {
  readonly bodyBytesMax: number;
  readonly receive: (incoming: Incoming) => Promise<Answer>;
};

/** Thrown by a handler to be called again after at least `seconds`. */
export class RetryAfter extends Error {
  override readonly name = "RetryAfter";
  readonly seconds: number;

  constructor(seconds: number, text = `come back in ${seconds} s`) {
    super(text);
    this.seconds = seconds;
  }
}

/** Thrown by a handler when a retry is useless. The message becomes a dead letter at once. */
export class NonRetryable extends Error {
  override readonly name = "NonRetryable";
}

const statuses = { refused: 401, tooLarge: 413, failed: 500, comeBack: 503, nonRetryable: 489 };
const toleranceDefault = 30;
const bodyBytesMaxDefault = 16 * 1024 * 1024;
const underwaySecondsDefault = 60;
/** The delay of the next attempt when another is still running. */
const comeBackSeconds = 5;
const claimEveryMs = 200;

export function createReceiver(handle: Handler, options: ReceiverOptions): Receiver {
  const { seen = memoryStore(), onProblem = () => undefined, now = Date.now } = options;
  const { toleranceSeconds = toleranceDefault, bodyBytesMax = bodyBytesMaxDefault } = options;
  const { underwaySecondsMax = underwaySecondsDefault } = options;

  async function receive({ headers, body }: Incoming): Promise<Answer> {
    if (body.length > bodyBytesMax) return tooLarge;
    const keys = typeof options.keys === "function" ? await options.keys() : options.keys;
    const signature = ownHeader(headers, "signature") ?? "";
    const at = { now: now(), url: options.url, toleranceSeconds };
    const verdict = verifySignature({ signature, body, keys, ...at });
    if (verdict.kind === "refused") return refuse(verdict.why);
    const messageId = ownHeader(headers, "message-id");
    if (messageId === undefined) return refuse("the message id is missing");
    const retried = Number(ownHeader(headers, "retried") ?? 0);
    const text = () => new TextDecoder().decode(body);
    const json = (): unknown => JSON.parse(text());
    return once({ messageId, retried, claims: verdict.claims, headers, body, text, json });
  }

  function refuse(why: string): Answer {
    onProblem(new Error(why));
    return answer(statuses.refused, why);
  }

  async function once(delivery: Delivery): Promise<Answer> {
    if (!seen) return (await handled(delivery)).answer;
    const { messageId } = delivery;
    switch (await claimed(seen, messageId)) {
      case "handled":
        return answer(200, "handled before");
      case "underway":
        return comeBack(comeBackSeconds, "this message is being handled");
      case "new": {
        const outcome = await handled(delivery);
        await seen.release(messageId, outcome.isHandled);
        return outcome.answer;
      }
    }
  }

  /** Claims the message. While another attempt runs, tries again every 200 ms: if that attempt fails, this one takes over. */
  async function claimed(store: SeenStore, messageId: string): Promise<Claim> {
    const until = performance.now() + underwaySecondsMax * 1_000;
    for (;;) {
      const claim = await store.claim(messageId);
      if (claim !== "underway" || performance.now() >= until) return claim;
      await new Promise((resolve) => setTimeout(resolve, claimEveryMs));
    }
  }

  async function handled(delivery: Delivery): Promise<Outcome> {
    try {
      const { status = 200, headers = {}, body = "" } = (await handle(delivery)) ?? {};
      return { isHandled: isGood(status), answer: checked({ status, headers, body }) };
    } catch (problem) {
      onProblem(problem);
      return { isHandled: false, answer: answerTo(problem, delivery.claims) };
    }
  }

  return {
    bodyBytesMax,
    // An error of the store or of the key source counts as a failure of the handler.
    receive: (incoming) =>
      receive(incoming).catch((problem: unknown) => {
        onProblem(problem);
        return failed;
      }),
  };
}

type Outcome = { readonly isHandled: boolean; readonly answer: Answer };

const isGood = (status: number): boolean => status >= 200 && status < 300;

/** Throws for a reply that cannot be sent: sending it would throw where nothing catches it, and end the process. */
function checked(reply: Answer): Answer {
  const { status, headers, body }: Said = reply;
  if (!Number.isInteger(status) || Number(status) < 200 || Number(status) > 599)
    throw new TypeError(`a reply has the status ${String(status)}`);
  if (typeof body !== "string" && !(body instanceof Uint8Array))
    throw new TypeError("the body of a reply is neither text nor bytes");
  for (const [name, value] of Object.entries(headers))
    if (!isHeaderName(name) || !isHeaderValue(String(value)))
      throw new TypeError(`a reply has the header ${JSON.stringify(name)}, which cannot be sent`);
  return reply;
}

/** A reply as a handler without types may give it. */
type Said = { readonly [Field in keyof Answer]: unknown } & Pick<Answer, "headers">;

const answer = (status: number, text: string, headers: Answer["headers"] = {}): Answer => ({
  status,
  headers: { "content-type": "text/plain; charset=utf-8", ...headers },
  body: text,
});

/** The answer to a handler's exception. The text goes to `onProblem`, not to the sender. */
const failed = answer(statuses.failed, "failed");
export const tooLarge = answer(statuses.tooLarge, "the body is too large");
const comeBack = (seconds: number, text: string): Answer =>
  answer(statuses.comeBack, text, { "retry-after": String(Math.max(0, Math.ceil(seconds))) });

type Thrown = { readonly name?: unknown; readonly message?: string; readonly seconds?: unknown };

/** Returns the answer to an exception. Classes are matched by name, since a package installed twice has two of each. */
function answerTo(problem: unknown, { iss }: Claims): Answer {
  const { name, message, seconds }: Thrown = Object(problem) as Thrown;
  if (name === "RetryAfter" && typeof seconds === "number") return comeBack(seconds, message ?? "");
  if (name !== "NonRetryable") return failed;
  const prefix = iss === "Upstash" ? "upstash" : "service";
  return answer(statuses.nonRetryable, message ?? "", { [`${prefix}-nonretryable-error`]: "true" });
}

/** Returns a header by its suffix, in either dialect. A delivery uses only one. */
const ownHeader = (headers: Incoming["headers"], suffix: string): string | undefined =>
  headers[`service-${suffix}`] ?? headers[`upstash-${suffix}`];
