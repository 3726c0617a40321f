/** The token store as configured. */
import { type ConfigOf, type ProcessParts } from "@posthaste/process";
import { openRedisTokens, type RedisTokens } from "@posthaste/tokens-redis";

type TokensConfig = Pick<ConfigOf<"scheduler">, "redisBudgetMs" | "redisPrefix" | "redisUrl">;

export function openTokens(parts: ProcessParts, config: TokensConfig): RedisTokens {
  const { clock, log, readiness, telemetry } = parts;
  const tokens = openRedisTokens({
    url: config.redisUrl,
    prefix: config.redisPrefix,
    budgetMs: config.redisBudgetMs,
    clock,
    log,
  });
  telemetry.metrics.watch("posthaste_tokens_total", () => {
    const { calls, failed, refused } = tokens.counts();
    return { calls, failed, refused };
  });
  // Without it nothing can be deduplicated, and what is flow-controlled waits; all else goes on (docs/design/outages#the-token-store).
  readiness.watch("redis", "helpful", () => tokens.problem());
  return tokens;
}
