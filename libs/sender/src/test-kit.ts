/** Senders, destinations and name servers for the tests of this package. All sockets are real, on 127.0.0.1. */
import { createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  type DestinationPolicy,
  destinationPolicy,
  type DestinationPolicySettings,
  isFault,
  type Outcome,
  tenantId,
} from "@posthaste/domain";
import { type Clock, type OutgoingRequest } from "@posthaste/ports";
import { type NameServer } from "./name-server.ts";
import { type CountingSender, createSender, type SenderSettings } from "./sender.ts";
import { key } from "./test-certificates.ts";

/** Closes everything that a test has opened. To be called in `afterEach`. */
export async function closeAll(): Promise<void> {
  await Promise.all(opened.splice(0).map((close) => close()));
}
const opened: (() => Promise<unknown>)[] = [];

export const realClock: Clock = {
  now: () => Date.now(),
  passedMs: () => performance.now(),
  setAheadMs: () => 0,
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

export function policyOf(settings: DestinationPolicySettings): DestinationPolicy {
  const policy = destinationPolicy(settings);
  if (isFault(policy)) throw new Error(policy.text);
  return policy;
}

export const loopbackPolicy = policyOf({ allowLoopback: true, anyPort: true });

export function openSender(settings: Partial<SenderSettings> = {}): CountingSender {
  const sender = createSender({
    policy: loopbackPolicy,
    connectionsPerOriginMax: 100,
    originsMax: 10,
    idleConnectionsMax: 100,
    connectionsMax: 1_000,
    answerBytesMax: 64 * 1024 * 1024,
    clock: realClock,
    ...settings,
  });
  opened.push(() => sender.close());
  return sender;
}

export const requestTo = (
  url: string,
  changes: Partial<OutgoingRequest> = {},
): OutgoingRequest => ({
  tenant: tenantId("default"),
  url,
  method: "POST",
  headers: [],
  body: Buffer.from("hello"),
  timeoutMs: 5_000,
  responseBytesMax: 1_024 * 1_024,
  ...changes,
});

/** Shortens an outcome: `200 body`, with `…` where it was cut, or the kind and code. */
export function inShort(outcome: Outcome): string {
  switch (outcome.kind) {
    case "answered":
      return `${outcome.status} ${Buffer.from(outcome.body).toString()}${outcome.truncated ? "…" : ""}`;
    case "aborted":
      return "aborted";
    case "unreachable":
    case "infrastructure":
      return `${outcome.kind} ${outcome.code}`;
  }
}

export type Destination = {
  readonly url: string;
  readonly port: number;
  readonly connections: Socket[];
  /** All bytes of all requests so far, as latin-1. */
  received(): string;
};

/** Called with each chunk that a connection receives. */
export type Respond = (socket: Socket, request: string) => void;

export type DestinationSettings = {
  readonly connected?: (socket: Socket) => void;
  readonly certificate?: string;
  readonly host?: string;
};

export async function openDestination(
  respond: Respond,
  settings: DestinationSettings = {},
): Promise<Destination> {
  const { certificate, host = "127.0.0.1" } = settings;
  const connections: Socket[] = [];
  let received = "";
  const accept = (socket: Socket): void => {
    connections.push(socket);
    socket.on("error", () => undefined);
    settings.connected?.(socket);
    socket.on("data", (chunk) => {
      received += chunk.toString("latin1");
      respond(socket, chunk.toString("latin1"));
    });
  };
  const server =
    certificate === undefined
      ? createServer(accept)
      : createTlsServer({ cert: certificate, key }, accept);
  server.on("tlsClientError", () => undefined);
  const port = await listen(server, host);
  opened.push(() => {
    for (const socket of connections) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  });
  const scheme = certificate === undefined ? "http" : "https";
  return {
    url: `${scheme}://${host.includes(":") ? `[${host}]` : host}:${port}/`,
    port,
    connections,
    received: () => received,
  };
}

function listen(server: Server, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, host, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
}

export const ok = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";

type Answers = Readonly<Record<string, readonly string[] | Error | Promise<readonly string[]>>>;

/** Answers with these addresses (TTL 0), and with `ENOTFOUND` for any other name. `asked` counts the questions. */
export function fakeNameServer(answers: Answers): NameServer & { asked: number } {
  const records = async (
    name: string,
    isIpv6: boolean,
  ): Promise<{ address: string; ttl: number }[]> => {
    const answer = await (answers[name] ?? dnsError("ENOTFOUND"));
    if (Error.isError(answer)) throw answer;
    return answer
      .filter((address) => address.includes(":") === isIpv6)
      .map((address) => ({ address, ttl: 0 }));
  };
  return {
    asked: 0,
    resolve4(name) {
      this.asked++;
      return records(name, false);
    },
    resolve6: (name) => records(name, true),
    probe: () => records("probe", false),
    renew: () => undefined,
  };
}

export const dnsError = (code: string): Error => Object.assign(new Error(code), { code });

/** Bytes of memory in use after a full collection. */
export function usedBytes(): number {
  setFlagsFromString("--expose-gc");
  const gc = runInNewContext("gc") as () => void;
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
