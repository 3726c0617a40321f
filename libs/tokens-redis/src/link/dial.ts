/** Where Redis is, and clients for it, each for one connection. */
import { type ConnectionOptions } from "node:tls";
import { Redis, type RedisOptions } from "ioredis";

export type RedisPlace = {
  /** redis:// or rediss://, with user and password of the servers. Hosts of a cluster or of sentinels are separated by commas. */
  readonly url: string;
  /** The kind of the hosts: one server, nodes of a Redis Cluster, or sentinels. */
  readonly mode?: RedisMode;
  /** `master`: the name under which sentinels know the servers. */
  readonly sentinel?: {
    readonly master: string;
    readonly user?: string | undefined;
    readonly password?: string | undefined;
  };
  /** PEM texts. `ca` replaces the public authorities; `certificate` and `key` are presented to a server that asks for them. */
  readonly tls?: {
    readonly ca?: string | undefined;
    readonly certificate?: string | undefined;
    readonly key?: string | undefined;
  };
  /** The time for a connection, including the questions to the sentinels before it. */
  readonly connectMs: number;
};

type RedisMode = "single" | "cluster" | "sentinel";
export type Endpoint = { readonly host: string; readonly port: number };

export type Dial = () => Redis;

const hangUpMsMax = 200;
const keepAliveMs = 30_000;
const redisPort = 6_379;
const sentinelPort = 26_379;

export function dialOne(place: RedisPlace): Dial {
  if (place.mode === "sentinel") return dialMaster(place);
  return () => new Redis(place.url, { ...common(place), ...tlsOf(place) });
}

export const dialNode = (place: RedisPlace, { host, port }: Endpoint): Redis => {
  const { user, password } = partsOf(place.url, redisPort);
  return new Redis({
    ...common(place),
    ...tlsOf(place),
    ...credentials(user, password),
    host,
    port,
  });
};

/** The nodes that are known before the cluster has named all. */
export const seedsOf = ({ url }: RedisPlace): readonly Endpoint[] =>
  partsOf(url, redisPort).endpoints;

/**
 * Each connection begins with the next sentinel in turn: one that does not answer costs half of the time for a connection, and the
 * next one answers within the other half.
 */
function dialMaster(place: RedisPlace): Dial {
  const { sentinel, connectMs } = place;
  const { endpoints, user, password, db } = partsOf(place.url, sentinelPort);
  const { tls } = tlsOf(place);
  const askMs = Math.ceil(connectMs / 2);
  let first = 0;
  return () => {
    const sentinels = [...endpoints.slice(first), ...endpoints.slice(0, first)];
    first = (first + 1) % endpoints.length;
    return new Redis({
      ...common(place),
      ...credentials(user, password),
      ...(db !== undefined && { db }),
      ...(tls && { tls, sentinelTLS: tls, enableTLSForSentinelMode: true }),
      connectTimeout: askMs,
      sentinelCommandTimeout: askMs,
      sentinels,
      name: sentinel?.master ?? "",
      ...(sentinel?.user !== undefined && { sentinelUsername: sentinel.user }),
      ...(sentinel?.password !== undefined && { sentinelPassword: sentinel.password }),
      updateSentinels: false,
      sentinelRetryStrategy: () => null,
      // A master that the sentinels cannot reach, but this process can, is left when they have named another.
      failoverDetector: true,
      sentinelReconnectStrategy: (tries) => Math.min(askMs, hangUpMsMax * tries),
    });
  };
}

/** The client queues, resends and repairs nothing: a caller learns at once whether Redis is away. */
const common = ({ connectMs }: RedisPlace) =>
  ({
    lazyConnect: true,
    // Scripts answer the same in both protocols; proxies and hosted services need not know HELLO.
    protocol: 2,
    retryStrategy: () => null,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    enableReadyCheck: false,
    disableClientInfo: true,
    connectionName: "posthaste",
    connectTimeout: connectMs,
    disconnectTimeout: hangUpMsMax,
    keepAlive: keepAliveMs,
  }) satisfies RedisOptions;

const tlsOf = ({ url, tls = {} }: RedisPlace): { readonly tls?: ConnectionOptions } => {
  if (!url.startsWith("rediss:")) return {};
  const { ca, certificate: cert, key } = tls;
  return { tls: { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert, key }) } };
};

const credentials = (username: string, password: string) => ({
  ...(username !== "" && { username }),
  ...(password !== "" && { password }),
});

const withHosts = /^(rediss?:\/\/(?:[^/]*@)?)([^/?@]+)(.*)$/;

function partsOf(url: string, portUsual: number) {
  const [, before = "", hosts = "", after = ""] = withHosts.exec(url) ?? [];
  const { username, password, pathname } = new URL(`${before}host${after}`);
  const db = /^\/(\d+)$/.exec(pathname)?.[1];
  return {
    endpoints: hosts.split(",").map((text) => endpointIn(text, portUsual)),
    user: decodeURIComponent(username),
    password: decodeURIComponent(password),
    ...(db !== undefined && { db: Number(db) }),
  };
}

export function endpointIn(text: string, portUsual: number): Endpoint {
  const [, host = text, port] = /^(.*?)(?::(\d{1,5}))?$/.exec(text.trim()) ?? [];
  return {
    host: host.replace(/^\[|\]$/g, ""),
    port: port === undefined ? portUsual : Number(port),
  };
}
