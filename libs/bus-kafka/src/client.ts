/**
 * One kafkajs client, with its log collapsed and its sockets watched: kafkajs does not tell when a connection is lost,
 * and cannot be told to give up on one.
 */
import { Kafka } from "kafkajs";
import { connect, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { type ClientLog } from "./quiet-log.ts";

export type Sasl = {
  readonly mechanism: "plain" | "scram-sha-256" | "scram-sha-512";
  readonly user: string;
  readonly password: string;
};

export type ClientOptions = {
  readonly brokers: readonly string[];
  readonly clientId: string;
  readonly tls: boolean;
  readonly sasl: Sasl | undefined;
  readonly quiet: ClientLog;
};

export type Client = {
  readonly kafka: Kafka;
  /** Breaks every connection, for good; what waits for an answer fails at once. */
  readonly breakOff: () => void;
};

const connectionTimeoutMs = 3_000;
const requestTimeoutMs = 10_000;
const keepAliveMs = 60_000;

/**
 * `retries`: of a lost connection and of a request that the broker asks to repeat, with waits of at most a second; each
 * takes the next of the brokers given, so there are at least as many.
 * `onLost`: an established connection has ended, whichever side wanted it.
 */
export function newClient(
  options: ClientOptions,
  retries: number,
  onLost: () => void = () => undefined,
): Client {
  const sockets = new Set<Socket>();
  let brokenOff = false;
  const kafka = new Kafka({
    brokers: [...options.brokers],
    clientId: options.clientId,
    ssl: options.tls,
    ...(options.sasl && { sasl: saslOf(options.sasl) }),
    connectionTimeout: connectionTimeoutMs,
    requestTimeout: requestTimeoutMs,
    retry: {
      initialRetryTime: 100,
      maxRetryTime: 1_000,
      multiplier: 2,
      factor: 0.2,
      retries: Math.max(retries, options.brokers.length),
    },
    logLevel: options.quiet.level,
    logCreator: options.quiet.creator,
    socketFactory: ({ host, port, ssl, onConnect }) => {
      if (brokenOff) throw givenUp();
      const socket: Socket = options.tls
        ? connectTls({ host, port, ...(isIP(host) === 0 && { servername: host }), ...ssl })
        : connect({ host, port });
      socket.setKeepAlive(true, keepAliveMs);
      sockets.add(socket);
      socket.once(options.tls ? "secureConnect" : "connect", () => {
        socket.once("close", onLost);
        onConnect();
      });
      socket.once("close", () => sockets.delete(socket));
      return socket;
    },
  });
  const breakOff = (): void => {
    brokenOff = true;
    // With an error: kafkajs does not listen to "close".
    for (const socket of sockets) socket.destroy(givenUp());
  };
  return { kafka, breakOff };
}

const givenUp = (): Error => new Error("the connection was given up");

/** One branch each: the mechanism is what tells the compiler which options belong to it. */
function saslOf({ mechanism, user, password }: Sasl) {
  const credentials = { username: user, password };
  switch (mechanism) {
    case "plain":
      return { mechanism, ...credentials };
    case "scram-sha-256":
      return { mechanism, ...credentials };
    case "scram-sha-512":
      return { mechanism, ...credentials };
  }
}
