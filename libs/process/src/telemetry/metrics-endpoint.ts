/**
 * Serves `GET /metrics` on a listener of its own, so that only collectors reach it. The answer has no data of tenants
 * or messages, so a token is required only if one is set.
 */
import { timingSafeEqual, hash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type Log, type Service } from "@posthaste/ports";
import { type Counted } from "./counted.ts";
import { exposition, expositionType } from "./exposition.ts";
import { openMetrics, openMetricsType, wantsOpenMetrics } from "./open-metrics.ts";

export type MetricsEndpointOptions = {
  readonly host: string;
  /** 0 for any free port, which is logged. */
  readonly port: number;
  /** Undefined if none is required. */
  readonly token: string | undefined;
  readonly counted: Counted;
  readonly log: Log;
};

/** Few connections of collectors: they take from the files that a process has for itself. */
const connectionsMax = 16;
const requestMsMax = 10_000;

export function createMetricsEndpoint(options: MetricsEndpointOptions): Service {
  const { host, port, counted, log } = options;
  const mayRead = createTokenCheck(options.token);
  const server = createServer({ requestTimeout: requestMsMax }, (req, res) => {
    answerMetrics(req, res, { counted, mayRead }).catch((error: unknown) => {
      log.error("metrics.failed", { error });
      res.destroy();
    });
  });
  server.maxConnections = connectionsMax;
  return {
    name: "metrics",
    start: async () => {
      server.listen({ host, port });
      await once(server, "listening");
      const address = server.address();
      log.info("metrics.listening", { host, port: typeof address === "object" && address?.port });
    },
    stop: async () => {
      if (!server.listening) return;
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

async function answerMetrics(
  req: IncomingMessage,
  res: ServerResponse,
  { counted, mayRead }: { readonly counted: Counted; readonly mayRead: TokenCheck },
): Promise<void> {
  // The body of a request, if there is one, is not read.
  req.resume();
  if (req.url?.split("?")[0] !== "/metrics") {
    res.writeHead(404).end();
  } else if (req.method !== "GET") {
    res.writeHead(405, { Allow: "GET" }).end();
  } else if (!mayRead(req.headers.authorization)) {
    res.writeHead(401, { "WWW-Authenticate": "Bearer" }).end();
  } else if (wantsOpenMetrics(req.headers.accept)) {
    res.writeHead(200, { "Content-Type": openMetricsType }).end(openMetrics(await counted.read()));
  } else {
    res.writeHead(200, { "Content-Type": expositionType }).end(exposition(await counted.read()));
  }
}

type TokenCheck = (authorization: string | undefined) => boolean;

/** Compares digests, so that the time reveals nothing about the token (RFC 6750, 2.1 for the header). */
function createTokenCheck(token: string | undefined): TokenCheck {
  if (token === undefined) return () => true;
  const wanted = hash("sha256", token, "buffer");
  return (authorization = "") => {
    const [, given = ""] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
    return timingSafeEqual(hash("sha256", given, "buffer"), wanted);
  };
}
