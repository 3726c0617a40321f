export { cached } from "./cache.ts";
export { onPath } from "./process/run.ts";
export { type RunningKafka, startKafka } from "./servers/kafka.ts";
export { type RunningMongo, startMongoJava } from "./servers/mongo-java.ts";
export { type RunningRedis, startRedis } from "./servers/redis.ts";
export { type RunningServer, type ServerPlace } from "./servers/place.ts";
export { type ProcessControls } from "./process/server-process.ts";
