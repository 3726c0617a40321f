export { freePort } from "./process/ports.ts";
export { goProgram, hasGo, hasPython, npmPackages, pythonWith } from "./fetch/clients.ts";
export { fetchRuntime, lackedByRuntimes, type Runtime } from "./fetch/runtimes.ts";
export { checkMetrics, hasPrometheus, promtool } from "./fetch/prometheus.ts";
export { type RunningPrometheus, startPrometheus } from "./servers/prometheus.ts";
export { fetchShell, hasShell } from "./fetch/shells.ts";
export { openProxy, type Proxy } from "./proxy.ts";
export {
  type Guard,
  joinKafka,
  type RunningKafka,
  startKafka,
  startKafkaSet,
} from "./servers/kafka.ts";
export { askMongod, directUri, startMongod, startMongodSet } from "./servers/mongod.ts";
export { type RunningRedis, startRedis } from "./servers/redis.ts";
export { nodeIdOf, type RunningRedisCluster, startRedisCluster } from "./servers/redis-cluster.ts";
export { type RedisWithSentinels, startRedisWithSentinels } from "./servers/redis-sentinels.ts";
export { type Road, type RunningMongo, type RunningMongoSet } from "./servers/place.ts";
export {
  asInTheImage,
  type RunningService,
  type RunningServices,
  type ServiceName,
  type ServicesOptions,
  startServices,
} from "./services.ts";
export { type ProcessControls, ServerProcess } from "./process/server-process.ts";
export { startStores, type Stores } from "./stores.ts";
