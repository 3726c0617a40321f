/**
 * Wraps one kafkajs client, with its log condensed and its sockets watched: kafkajs does not report a lost connection, and
 * has no call to give one up.
 */
import { Kafka, type Mechanism, type SASLOptions } from "kafkajs";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls, type SecureContext } from "node:tls";
import { type ClientLog } from "./quiet-log.ts";
import { bearer } from "./security/bearer.ts";
import { type Login } from "./security/sasl.ts";

export type ClientOptions = {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly secureContext: SecureContext | undefined;
  readonly login: Login | undefined;
  /** How long a broker has for an answer before the request fails. */
  readonly requestMs: number;
  readonly quiet: ClientLog;
};

export type Client = {
  readonly kafka: Kafka;
  /** Breaks every connection, for good; calls that wait for an answer fail at once. */
  readonly breakOff: () => void;
};

const connectionTimeoutMs = 3_000;
const keepAliveMs = 60_000;
/** How long before the end of a session its token is presented anew: brokers accept none within a second of the last. */
const renewalMs = 3_000;

/**
 * `retries`: how often a lost connection, or a request that the broker asks to repeat, is tried again, with waits of
 * at most a second; each try takes the next of the given brokers, so there are at least as many. `onLost`: an
 * established connection has ended, on either side.
 */
export function newClient(
  options: ClientOptions,
  retries: number,
  onLost: () => void = () => undefined,
): Client {
  const { secureContext, login } = options;
  const sockets = new Set<Socket>();
  let brokenOff = false;
  const kafka = new Kafka({
    brokers: [...options.brokers],
    clientId: options.clientId,
    ssl: secureContext !== undefined,
    ...(login && { sasl: saslOf(login) }),
    reauthenticationThreshold: renewalMs,
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: options.requestMs,
    retry: {
      initialRetryTime: 100,
      maxRetryTime: 1_000,
      multiplier: 2,
      factor: 0.2,
      retries: Math.max(retries, options.brokers.length),
    },
    logLevel: options.quiet.level,
    logCreator: options.quiet.creator,
    socketFactory: ({ host, port, onConnect }) => {
      if (brokenOff) throw givenUp();
      const name = isIP(host) === 0 && { servername: host };
      const socket: Socket = secureContext
        ? connectTls({ host, port, secureContext, ...name })
        : connect({ host, port });
      socket.setKeepAlive(true, keepAliveMs);
      sockets.add(socket);
      socket.once(secureContext ? "secureConnect" : "connect", () => {
        socket.once("close", onLost);
        onConnect();
      });
      socket.once("close", () => sockets.delete(socket));
      return socket;
    },
  });
  const breakOff = (): void => {
    brokenOff = true;
    // With an error, since kafkajs does not listen to "close".
    for (const socket of sockets) socket.destroy(givenUp());
  };
  return { kafka, breakOff };
}

const givenUp = (): Error => new Error("the connection was given up");

function saslOf(login: Login): SASLOptions | Mechanism {
  switch (login.mechanism) {
    case "plain":
      return { mechanism: login.mechanism, ...passwordOf(login) };
    case "scram-sha-256":
      return { mechanism: login.mechanism, ...passwordOf(login) };
    case "scram-sha-512":
      return { mechanism: login.mechanism, ...passwordOf(login) };
    case "oauthbearer":
      return bearer(login.token);
  }
}

const passwordOf = ({ user, password }: { readonly user: string; readonly password: string }) => ({
  username: user,
  password,
});
