export { connectMsDefault } from "./link/dial.ts";
export { openRedisTokens, type RedisTokens, type RedisTokensOptions } from "./redis-tokens.ts";
