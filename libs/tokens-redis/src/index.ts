export { openRedisTokens, type RedisTokens } from "./redis-tokens.ts";
