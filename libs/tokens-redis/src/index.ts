export { openRedisTokens, type RedisTokens, type RedisTokensOptions } from "./redis-tokens.ts";
