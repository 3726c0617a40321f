/** An exchange over got, for Node, with agents of its own and a timeout for connecting beside that of the answer. */
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import got, { type RequestError } from "got";
import { type Exchange } from "./transport.ts";
import { isUnsent } from "./unsent.ts";

export type NodeOptions = {
  /** Default: agents of the client that keep connections until `close`. */
  readonly agent?: { readonly http: HttpAgent; readonly https: HttpsAgent } | undefined;
  /** The time to open a connection. Default 5 s. */
  readonly connectTimeoutMs?: number | undefined;
};

const connectMsDefault = 5_000;
const userAgent = "posthaste-client";
const connecting: ReadonlySet<unknown> = new Set(["lookup", "connect", "secureConnect"]);

export function overGot({ agent, connectTimeoutMs = connectMsDefault }: NodeOptions): Exchange {
  const own = agent ?? {
    http: new HttpAgent({ keepAlive: true }),
    https: new HttpsAgent({ keepAlive: true }),
  };
  return {
    exchange: async ({ body, headers, method, signal, timeoutMs, url }) => {
      try {
        const {
          body: text,
          headers: given,
          statusCode,
        } = await got(url, {
          method: method as "GET",
          headers: { "user-agent": userAgent, ...headers },
          ...(body !== undefined && { body }),
          ...(signal && { signal }),
          agent: own,
          followRedirect: false,
          throwHttpErrors: false,
          timeout: { connect: connectTimeoutMs, request: timeoutMs },
          retry: { limit: 0 },
        });
        return {
          ...{ kind: "answered", status: statusCode, text },
          header: (name) => [given[name]].flat()[0],
        };
      } catch (error) {
        const { event } = Object(error) as Partial<RequestError & { readonly event: unknown }>;
        return {
          ...{ kind: "failed", cause: error },
          isUnsent: isUnsent(error) || connecting.has(event),
        };
      }
    },
    close: () => {
      if (agent) return;
      own.http.destroy();
      own.https.destroy();
    },
  };
}
