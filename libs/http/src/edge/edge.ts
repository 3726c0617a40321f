/**
 * The edge of the HTTP server. Owns the listening socket and its connections; a request refused here never reaches a
 * handler.
 *
 * (1) Every request gets exactly one answer, always JSON, even when a handler throws.
 * (2) Every wait has an end: headers 10 s, the whole request 60 s, an idle connection 65 s, stopping `drainMs`.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { fault as faultOf } from "@posthaste/domain";
import { type Clock, type Log, type Readiness, type Service } from "@posthaste/ports";
import { answer } from "../answers/answer.ts";
import { type Answers } from "../answers/answers.ts";
import { workEnded } from "../bodies/body.ts";
import { type AddressSet, addressSet } from "../caller-ip.ts";
import { answerClientError, answerConnect } from "./client-error.ts";
import { createConnections } from "./connections.ts";
import {
  allowOrigin,
  createOriginCheck,
  faultOfHead,
  headersMax,
  type Origins,
} from "./request-head.ts";

/** Returns a promise of the end of its work, or undefined when the answer is made in another way. */
export type RequestHandler = (
  req: IncomingMessage,
  res: ServerResponse<IncomingMessage>,
) => Promise<void> | undefined;

type EdgeLimits = {
  readonly headerBytesMax: number;
  readonly headersMsMax: number;
  readonly requestMsMax: number;
  /** Longer than load balancers keep idle connections, so that they close first. */
  readonly idleMsMax: number;
  readonly connectionsMax: number;
  readonly requestsPerConnectionMax: number;
  /** How often Node checks for requests that have run out of time. */
  readonly checkEveryMs: number;
};

/** Used if the system allows enough files. */
export const connectionsMax = 8_192;

const edgeLimits: EdgeLimits = {
  headerBytesMax: 32 * 1024,
  headersMsMax: 10_000,
  requestMsMax: 60_000,
  idleMsMax: 65_000,
  connectionsMax,
  requestsPerConnectionMax: 100_000,
  checkEveryMs: 5_000,
};

const crowdedEveryMs = 60_000;
const tooMany = faultOf("overloaded", "too many connections, come back later");

export type EdgeOptions = {
  readonly name: string;
  readonly host: string;
  /** 0 for any free port; the edge's `port` has it once started. */
  readonly port: number;
  readonly handler: RequestHandler;
  readonly answers: Answers;
  readonly log: Log;
  readonly clock: Clock;
  readonly drainMs: number;
  /** Absent if the handler answers `/healthz` and `/readyz`. */
  readonly readiness?: Readiness;
  /** Default: `none`. */
  readonly origins?: Origins;
  /** Proxies that are trusted about the caller's address. */
  readonly trustedProxies?: AddressSet;
  readonly limits?: Partial<EdgeLimits>;
};

/** Limits that the process has found to be lower than usual. */
export type FoundLimits = Pick<EdgeOptions, "limits">;

export interface Edge extends Service {
  readonly port: number;
}

export function createEdge(options: EdgeOptions): Edge {
  const limits = { ...edgeLimits, ...options.limits };
  const { answers, origins = "none", clock, handler, host, log, name, readiness } = options;
  const { trustedProxies = addressSet([]) } = options;
  const faultOfOrigin = origins === "local" ? createOriginCheck() : undefined;
  let port = options.port;
  let stopping = false;

  let crowdedAt = -Infinity;
  const connections = createConnections(limits.connectionsMax, trustedProxies, () => {
    // One line a minute: there may be thousands of events a second.
    if (clock.passedMs() - crowdedAt < crowdedEveryMs) return;
    crowdedAt = clock.passedMs();
    log.warn("connections.crowded", { name, limit: limits.connectionsMax });
  });

  const onRequest = (req: IncomingMessage, res: ServerResponse<IncomingMessage>): void => {
    if (stopping) res.shouldKeepAlive = false;
    if (!connections.hasAsked(req, res)) {
      res.shouldKeepAlive = false;
      if (!readiness || !answerHealth(req, res, readiness))
        answers.fault(res, tooMany, ["Connection", "close"]);
      return;
    }
    const fault = faultOfHead(req);
    if (fault) {
      answers.fault(res, fault, ["Connection", "close"]);
      return;
    }
    const foreign = faultOfOrigin?.(req);
    if (origins !== "none" && !foreign && allowOrigin(req, res)) return;
    if (readiness && answerHealth(req, res, readiness)) return;
    if (foreign) {
      answers.fault(res, foreign);
      return;
    }
    try {
      void handler(req, res)
        ?.catch((error: unknown) => answers.failed(res, error))
        .then(() => workEnded(res));
    } catch (error) {
      answers.failed(res, error);
    }
  };

  const server = createTunedServer(limits, onRequest);
  server.on("clientError", (error, socket) =>
    answerClientError(error, socket, (ms, task) => clock.after(ms, task)),
  );
  server.on("connect", (_req, socket) =>
    answerConnect(socket, (ms, task) => clock.after(ms, task)),
  );
  server.on("connection", (socket) => connections.arrived(socket));

  return {
    name,
    get port() {
      return port;
    },
    start: async () => {
      await listen(server, host, port);
      const address = server.address();
      if (typeof address === "object" && address) port = address.port;
      log.info("edge.listening", { name, host, port });
    },
    stop: () => {
      stopping = true;
      return close(server, clock, options.drainMs);
    },
  };
}

/**
 * Answers `/healthz`, this process runs, and `/readyz`, it may be given work. Neither needs a token, and neither is ever
 * refused. Returns false when the request is for something else.
 */
function answerHealth(req: IncomingMessage, res: ServerResponse, readiness: Readiness): boolean {
  const asksForHealth = req.url === "/healthz";
  if (!asksForHealth && req.url !== "/readyz") return false;
  if (req.method !== "GET") {
    answer(res, 405, `{"error":"method not allowed"}`, ["Allow", "GET"]);
  } else if (asksForHealth) {
    answer(res, 200, `{"healthy":true}`);
  } else {
    const [missing, degraded] = [readiness.missing(), readiness.degraded()];
    const shown = degraded.length > 0 ? { degraded } : {};
    if (missing.length === 0) answer(res, 200, JSON.stringify({ ready: true, ...shown }));
    else answer(res, 503, JSON.stringify({ ready: false, missing, ...shown }));
  }
  return true;
}

function createTunedServer(
  limits: EdgeLimits,
  onRequest: (req: IncomingMessage, res: ServerResponse<IncomingMessage>) => void,
): Server {
  const server = createServer({
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMsMax,
    requestTimeout: limits.requestMsMax,
    keepAliveTimeout: limits.idleMsMax,
    connectionsCheckingInterval: limits.checkEveryMs,
    insecureHTTPParser: false,
    // The edge checks for the header itself: Node's own answer has no body.
    requireHostHeader: false,
    noDelay: true,
  });
  // Node silently drops headers beyond its count; one more than allowed shows that there were too many.
  server.maxHeadersCount = headersMax + 1;
  server.maxRequestsPerSocket = limits.requestsPerConnectionMax;
  server.on("request", onRequest);
  // A client that asks before it sends a body is answered by the reader of the body (body.ts), or refused before it sends.
  server.on("checkContinue", onRequest);
  server.on("checkExpectation", onRequest);
  return server;
}

const backlogMax = 1_024;

async function listen(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException): void =>
      reject(new Error(`cannot listen on ${host}:${port}: ${whyNot(cause)}`, { cause }));
    server.once("error", onError);
    server.listen({ host, port, backlog: backlogMax }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}

const whyNot = ({ code, message }: NodeJS.ErrnoException): string =>
  code === "EADDRINUSE" ? "the port is taken (EADDRINUSE)" : (code ?? message);

const closeIdleEveryMs = 50;

/** Resolves when every request in flight was answered, at the latest after `drainMs`. */
async function close(server: Server, clock: Clock, drainMs: number): Promise<void> {
  if (!server.listening) return;
  let callOff = (): void => undefined;
  // A connection whose last answer was under way at the stop becomes idle later.
  const closeIdle = (): void => {
    server.closeIdleConnections();
    callOff = clock.after(closeIdleEveryMs, closeIdle);
  };
  const callOffAll = clock.after(drainMs, () => server.closeAllConnections());
  await new Promise<void>((resolve) => {
    server.close(() => resolve());
    closeIdle();
  });
  callOff();
  callOffAll();
}
