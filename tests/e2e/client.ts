/** A plain HTTP client for tests, with no SDK in between. Each answer is checked against docs/openapi.json. */
import { request } from "node:http";
import { expectDocumented } from "./documented.ts";
import { developmentToken } from "./server-process.ts";
import { type Json, listOf, objectOf, textOf } from "./json.ts";

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly text: string;
  json(): unknown;
  object(): Json;
  list(key?: string): readonly Json[];
  error(): string;
};
type Headers = Readonly<Record<string, string | readonly string[]>>;

export class Client {
  readonly #port: number;
  readonly #token: string | undefined;
  readonly #from: { readonly localAddress?: string };

  /** `token` null sends none. `from`: the caller's own address. */
  constructor(port: number, token: string | null = developmentToken, from?: string) {
    this.#port = port;
    this.#token = token ?? undefined;
    this.#from = from === undefined ? {} : { localAddress: from };
  }

  get(path: string, headers: Headers = {}): Promise<Reply> {
    return this.call("GET", path, headers);
  }

  /** Asks again while the server refuses a list for now, as pollers on a busy host ask many. */
  page(path: string): Promise<Reply> {
    return eventually(
      () => this.get(path),
      ({ status }) => status !== 429 && status !== 503,
    );
  }

  async listed(path: string, key: string): Promise<readonly Json[]> {
    return (await this.page(path)).list(key);
  }

  /** Asks for the list until `holds` does. */
  until(
    path: string,
    key: string,
    holds: (list: readonly Json[]) => boolean,
    msMax?: number,
  ): Promise<readonly Json[]> {
    return eventually(() => this.listed(path, key), holds, msMax);
  }

  delete(path: string, body?: string): Promise<Reply> {
    return this.call("DELETE", path, {}, body);
  }

  post(path: string, headers: Headers = {}, body: string | Uint8Array = ""): Promise<Reply> {
    return this.call("POST", path, headers, body);
  }

  postJson(path: string, value: unknown): Promise<Reply> {
    return this.post(path, {}, JSON.stringify(value));
  }

  publish(
    destination: string,
    headers: Headers = {},
    body: string | Uint8Array = "",
  ): Promise<Reply> {
    return this.post(`/v2/publish/${destination}`, headers, body);
  }

  /** Publishes, and returns the id of the accepted message. */
  async published(
    destination: string,
    headers: Headers = {},
    body: string | Uint8Array = "",
  ): Promise<string> {
    const reply = await this.publish(destination, headers, body);
    if (reply.status !== 200) throw new Error(`${reply.status} ${reply.text}`);
    return textOf(reply.object()["messageId"]);
  }

  /** Sends the path unchanged, not normalised. */
  async call(
    method: string,
    path: string,
    headers: Headers,
    body?: string | Uint8Array,
  ): Promise<Reply> {
    const reply = await this.#exchange(method, path, headers, body);
    const contentType = reply.headers["content-type"];
    expectDocumented({ method, path, contentType, status: reply.status, text: reply.text });
    return reply;
  }

  #exchange(
    method: string,
    path: string,
    headers: Headers,
    body: string | Uint8Array | undefined,
  ): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const authorization = this.#token !== undefined && { authorization: `Bearer ${this.#token}` };
      const all = {
        ...authorization,
        ...(body !== undefined && { "content-length": Buffer.byteLength(body) }),
        ...headers,
      };
      const to = { host: "127.0.0.1", port: this.#port, ...this.#from };
      const sent = request({ ...to, method, path, headers: all, agent: false }, (response) => {
        const chunks: Buffer[] = [];
        response.on("data", (chunk: Buffer) => chunks.push(chunk));
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString();
          resolve(replyOf(response.statusCode ?? 0, response.headers, text));
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
  }
}

function replyOf(status: number, headers: Reply["headers"], text: string): Reply {
  const json = (): unknown => JSON.parse(text);
  const object = (): Json => objectOf(json());
  return {
    status,
    headers,
    text,
    json,
    object,
    list: (key) => {
      if (status >= 400) throw new Error(`no list but ${status} ${text}`);
      return listOf(key === undefined ? json() : object()[key]);
    },
    error: () => textOf(object()["error"]),
  };
}

export const isFilled = ({ length }: { readonly length: number }): boolean => length > 0;
export const hasLength =
  (wanted: number) =>
  ({ length }: { readonly length: number }): boolean =>
    length === wanted;
export const hasStatus =
  (wanted: number) =>
  ({ status }: { readonly status: number }): boolean =>
    status === wanted;

export const includes =
  (part: string) =>
  (whole: { readonly includes: (part: string) => boolean }): boolean =>
    whole.includes(part);
export const equals =
  (wanted: unknown) =>
  (value: unknown): boolean =>
    value === wanted;

const restMsMin = 25;
const restMsMax = 500;
/** The pause before the next poll, as a share of the wait so far: a long wait is noticed a tenth later, and polled seldom. */
const restShare = 0.1;

/** Asks again until `test` holds. */
export async function eventually<T>(
  ask: () => Promise<T>,
  test: (value: T) => boolean,
  msMax = 60_000,
): Promise<T> {
  const begunAt = performance.now();
  for (;;) {
    const value = await ask();
    if (test(value)) return value;
    const waitedMs = performance.now() - begunAt;
    if (waitedMs > msMax) throw new Error(`not within ${msMax} ms: ${JSON.stringify(value)}`);
    const restMs = Math.min(restMsMax, Math.max(restMsMin, restShare * waitedMs));
    await new Promise((resolve) => setTimeout(resolve, restMs));
  }
}
