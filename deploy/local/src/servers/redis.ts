/** One Redis that keeps what it has acknowledged as well as Redis does: append-only file, synced each second. */
import { fetchRedis, redisArgv0 } from "../fetch/redis.ts";
import { freePort, loopback } from "../process/ports.ts";
import { answers } from "../process/probe.ts";
import { ServerProcess } from "../process/server-process.ts";
import { type RunningServer, type ServerPlace, dataFolder } from "./place.ts";

export type RunningRedis = RunningServer & { readonly url: string };

export async function startRedis(place: ServerPlace): Promise<RunningRedis> {
  const { name, file, env } = await fetchRedis();
  const port = place.port ?? (await freePort());
  const settings = {
    port: String(port),
    bind: loopback,
    save: "",
    appendonly: "yes",
    dir: dataFolder(place, "redis"),
  };
  const args = Object.entries(settings).flatMap(([setting, value]) => [`--${setting}`, value]);
  const isReady = () =>
    answers(port, "PING\r\n", (answer) => answer.toString().startsWith("+PONG"));
  const command = { name, file, args, env, argv0: redisArgv0 };
  const server = new ServerProcess(command, isReady, place);
  await server.start();
  return { name, host: loopback, port, process: server, url: `redis://${loopback}:${port}` };
}
