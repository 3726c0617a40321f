/** Redis: its address, and how to connect. The standalone reads none of these variables. */
import { z } from "zod";
import { tlsCa, tlsCertificate, tlsKey, tlsRules } from "./tls.ts";
import { address, printable, wholeNumber } from "./values.ts";
import { type Rule, variables } from "./variable.ts";

const subject = "Kafka, Redis and MongoDB";

const name = /^[0-9A-Za-z._:-]{0,64}$/;
const nameRule = "at most 64 letters, digits and . _ : -";

export const tokensShape = {
  redisUrl: address("redis", "rediss").register(variables, {
    subject,
    secret: true,
    rule: "a redis:// or rediss:// address, with several hosts separated by commas for a cluster or sentinels",
    summary:
      "Redis, which holds deduplication windows and flow slots. Losing them loses no message. `redis://user:password@a:6379,b:6379` are nodes of a cluster, or sentinels ([redis.md](redis.md)).",
  }),
  redisMode: z.enum(["single", "cluster", "sentinel"]).register(variables, {
    subject,
    rule: "one of single, cluster, sentinel",
    summary:
      "The kind of servers at that address: one server, nodes of a Redis Cluster, or sentinels, which name the master. Change it only while no service runs.",
    default: "single",
  }),
  redisMaster: printable(1, 255, {
    subject,
    summary: "The name under which the sentinels know the master.",
    default: "mymaster",
  }),
  redisSentinelUser: printable(1, 255, {
    subject,
    summary: "The user at the sentinels; user and password of the servers are in the address.",
  }).optional(),
  redisSentinelPassword: printable(1, 255, {
    subject,
    secret: true,
    summary: "The password at the sentinels. Not set: the sentinels ask for no password.",
  }).optional(),
  redisTlsCa: tlsCa("Redis"),
  redisTlsCertificate: tlsCertificate("Redis"),
  redisTlsKey: tlsKey("Redis"),
  redisPrefix: z.string().regex(name).register(variables, {
    subject,
    rule: nameRule,
    summary: "The prefix of all keys.",
    default: "posthaste:",
  }),
  redisBudgetMs: wholeNumber(1, 10_000, {
    subject,
    summary:
      "How many milliseconds Redis has for an answer before it counts as away: publishes that ask for deduplication get 503, and flow-controlled messages wait.",
    default: "50",
  }),
  redisConnectMs: wholeNumber(10, 60_000, {
    subject,
    rule: "a whole number from 10 to 60000, and POSTHASTE_REDIS_BUDGET_MS at least",
    summary:
      "How many milliseconds connecting to Redis may take, with TLS and the question to the sentinels before it. Connecting is repeated forever. Not set: 2000, or POSTHASTE_REDIS_BUDGET_MS where that is more.",
  }).optional(),
};

export const redisRules: readonly Rule[] = [
  {
    keys: ["redisUrl", "redisMode"],
    problemsOf: ({ redisUrl, redisMode }) =>
      typeof redisUrl === "string" ? problemsOfRedisUrl(redisUrl, redisMode) : [],
  },
  {
    keys: ["redisMode", "redisSentinelUser", "redisSentinelPassword"],
    problemsOf: ({ redisMode, redisSentinelUser, redisSentinelPassword }) => [
      ...(redisSentinelUser !== undefined && redisSentinelPassword === undefined
        ? ["POSTHASTE_REDIS_SENTINEL_USER requires POSTHASTE_REDIS_SENTINEL_PASSWORD"]
        : []),
      ...(redisSentinelPassword !== undefined && redisMode !== "sentinel"
        ? ["POSTHASTE_REDIS_SENTINEL_PASSWORD requires POSTHASTE_REDIS_MODE=sentinel"]
        : []),
    ],
  },
  {
    keys: ["redisBudgetMs", "redisConnectMs"],
    problemsOf: ({ redisBudgetMs, redisConnectMs }) =>
      Number(redisConnectMs) < Number(redisBudgetMs)
        ? ["POSTHASTE_REDIS_CONNECT_MS must not be less than POSTHASTE_REDIS_BUDGET_MS"]
        : [],
  },
  ...tlsRules("Redis", "redisUrl", (url) =>
    String(url).startsWith("redis:")
      ? "POSTHASTE_REDIS_URL begins with redis: and not with rediss:"
      : undefined,
  ),
];

const host = /^(?:[0-9A-Za-z._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?$/;
const hostsMax = 64;

function problemsOfRedisUrl(url: string, mode: unknown): readonly string[] {
  const [, authority = "", database = "0"] =
    /^[^/]+:\/\/(?:[^/?#]*@)?([^/?#@]*)(?:\/(\d+))?/.exec(url) ?? [];
  const hosts = authority.split(",");
  if (mode === "single" && hosts.length > 1)
    return [
      "POSTHASTE_REDIS_URL names several hosts: set POSTHASTE_REDIS_MODE to cluster or sentinel",
    ];
  // The driver gets one address of several hosts piece by piece.
  if (mode !== "single" && (hosts.length > hostsMax || !hosts.every((each) => host.test(each))))
    return [`POSTHASTE_REDIS_URL must name at most ${hostsMax} hosts, each host or host:port`];
  return mode === "cluster" && Number(database) > 0
    ? ["POSTHASTE_REDIS_URL names a database, and a cluster has only 0"]
    : [];
}
