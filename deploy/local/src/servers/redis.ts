/** Starts one Redis with an append-only file that is synced each second. */
import { fetchRedis, redisArgv0 } from "../fetch/redis.ts";
import { freePort, loopback } from "../process/ports.ts";
import { ServerProcess } from "../process/server-process.ts";
import { askRedis } from "./ask-redis.ts";
import { type RunningServer, type ServerPlace, dataFolder } from "./place.ts";

export type RunningRedis = RunningServer & { readonly url: string };

/** The files of servers that require certificates from each other and their clients, as settings of redis.conf. */
export type RedisTls = Readonly<Record<string, string>>;

/** Returns a port for TLS, and the settings of a server that has it and uses TLS towards other servers. */
export async function tlsOn(tls: RedisTls | undefined) {
  if (tls === undefined) return undefined;
  const port = await freePort();
  const settings = { ...tls, "tls-port": String(port), "tls-replication": "yes" };
  return { port, settings, url: `rediss://${loopback}:${port}` };
}

export const urlOf = (servers: readonly RunningRedis[]): string => {
  const [scheme = ""] = servers.map(({ url }) => new URL(url).protocol);
  return `${scheme}//${servers.map(({ url }) => new URL(url).host).join(",")}`;
};

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
