/** Opens the token store as configured. */
import { type SettingsOf, type ProcessParts } from "@posthaste/process";
import { openRedisTokens, type RedisTokens } from "@posthaste/tokens-redis";
import { tlsFailure } from "./tls-failures.ts";

type TokensConfig = SettingsOf<"scheduler", "redis">;

export function openTokens(parts: ProcessParts, config: TokensConfig): RedisTokens {
  const { clock, log, readiness, telemetry } = parts;
  const tokens = openRedisTokens({
    url: config.redisUrl,
    mode: config.redisMode,
    sentinel: {
      master: config.redisMaster,
      user: config.redisSentinelUser,
      password: config.redisSentinelPassword,
    },
    tls: {
      ca: config.redisTlsCa,
      certificate: config.redisTlsCertificate,
      key: config.redisTlsKey,
    },
    explain: (error) =>
      tlsFailure("Redis", config.redisTlsCa !== undefined, error) ?? closedBy(config, error),
    prefix: config.redisPrefix,
    budgetMs: config.redisBudgetMs,
    connectMs: config.redisConnectMs,
    clock,
    log,
  });
  telemetry.metrics.watch("posthaste_tokens_total", () => {
    const { calls, failed, refused } = tokens.counts();
    return { calls, failed, refused };
  });
  // Helpful: without Redis nothing can be deduplicated, and flow-controlled messages wait; everything else continues
  // (docs/design/outages#the-token-store).
  readiness.watch("redis", "helpful", () => tokens.problem());
  return tokens;
}

/** Explains a closed connection: a Redis that asks for TLS ends one without it and gives no reason. */
function closedBy({ redisUrl }: TokensConfig, error: unknown): string | undefined {
  const isClosed =
    Error.isError(error) &&
    /closed|ECONNRESET|EPIPE/.test(error.message) &&
    redisUrl.startsWith("redis:");
  return isClosed
    ? `${error.message}: if Redis asks for TLS, let POSTHASTE_REDIS_URL begin with rediss:`
    : undefined;
}
