/** One Redis with an append-only file synced each second: as durable as Redis is. */
import { fetchRedis, redisArgv0 } from "../fetch/redis.ts";
import { freePort, loopback } from "../process/ports.ts";
import { ServerProcess } from "../process/server-process.ts";
import { askRedis } from "./ask-redis.ts";
import { type RunningServer, type ServerPlace, dataFolder } from "./place.ts";

export type RunningRedis = RunningServer & { readonly url: string };

/** `settings`: changes to redis.conf. Without TLS. */
export async function startRedis(
  place: ServerPlace,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningRedis> {
  const port = place.port ?? (await freePort());
  const dir = dataFolder(place, "redis");
  const usual = { save: "", appendonly: "yes", dir, "repl-diskless-sync-delay": "0" };
  const args = Object.entries({ ...usual, port: String(port), bind: loopback, ...settings });
  return startRedisProcess(
    place,
    port,
    args.flatMap(([setting, value]) => [`--${setting}`, value]),
  );
}

export async function startRedisProcess(
  place: ServerPlace,
  port: number,
  args: readonly string[],
): Promise<RunningRedis> {
  const { name, file, env } = await fetchRedis();
  const isReady = async () => (await askRedis(port, "PING")).startsWith("+PONG");
  const server = new ServerProcess({ name, file, args, env, argv0: redisArgv0 }, isReady, place);
  await server.start();
  return { name, host: loopback, port, process: server, url: `redis://${loopback}:${port}` };
}
