/** A Redis with a replica, and three sentinels that promote the replica within seconds. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort, loopback } from "../process/ports.ts";
import { askRedis, untilRedis } from "./ask-redis.ts";
import { type Address } from "../proxy.ts";
import { dataFolder, type Road, type ServerPlace, straight } from "./place.ts";
import {
  type RedisTls,
  type RunningRedis,
  startRedis,
  startRedisProcess,
  tlsOn,
  urlOf,
} from "./redis.ts";

export type RedisWithSentinels = {
  readonly name: string;
  readonly url: string;
  readonly masterName: string;
  /** The first is the master at the start. */
  readonly servers: readonly [RunningRedis, RunningRedis];
  readonly sentinels: readonly RunningRedis[];
  master(): Promise<RunningRedis>;
  stop(): Promise<void>;
};

const masterName = "mymaster";
const sentinelsTotal = 3;
const quorum = 2;

export async function startRedisWithSentinels(
  { dir }: Pick<ServerPlace, "dir">,
  settings: Readonly<Record<string, string>> = {},
  road: Road = straight,
  tls?: RedisTls,
): Promise<RedisWithSentinels> {
  const at = async (folder: string) => {
    const [port, ports] = [await freePort(), await tlsOn(tls)];
    const known = await road({ host: loopback, port: ports?.port ?? port });
    return { place: { dir: join(dir, folder), port }, known, tls: ports?.settings };
  };
  const [one, other] = [await at("redis-first"), await at("redis-second")];
  const known = [one.known, other.known] as const;
  const first = await startRedis(one.place, {
    ...announced(one.known),
    ...one.tls,
    ...settings,
  });
  const second = await startRedis(other.place, {
    ...announced(other.known),
    ...other.tls,
    replicaof: `${one.known.host} ${one.known.port}`,
    ...settings,
  });
  await untilRedis(second.port, ["INFO", "replication"], (info) => info.includes("link_status:up"));
  const numbers = Array.from({ length: sentinelsTotal }, (_, i) => i);
  const sentinels = await Promise.all(
    numbers.map((i) => startSentinel({ dir }, i, one.known, tls)),
  );
  for (const { port } of sentinels)
    await untilRedis(
      port,
      ["SENTINEL", "MASTER", masterName],
      (told) =>
        /num-slaves\r\n\$1\r\n1\r\n/.test(told) &&
        new RegExp(`num-other-sentinels\r\n\\$1\r\n${sentinelsTotal - 1}\r\n`).test(told),
    );
  const servers = [first, second] as const;
  return {
    name: `${first.name} with Sentinel`,
    url: urlOf(sentinels),
    masterName,
    servers,
    sentinels,
    master: async () => {
      const asked = sentinels.filter(({ process }) => process.isRunning);
      const answers = await Promise.all(
        asked.map(({ port }) => askRedis(port, "SENTINEL", "GET-MASTER-ADDR-BY-NAME", masterName)),
      );
      const named = servers.find((_, i) =>
        answers.every((answer) => answer.includes(`\r\n${known[i]?.port}\r\n`)),
      );
      if (named === undefined) throw new Error("the sentinels do not agree");
      return named;
    },
    stop: async () => {
      await Promise.all([...sentinels, ...servers].map((server) => server.process.kill()));
    },
  };
}

const announced = ({ host, port }: Address) => ({
  "replica-announce-ip": host,
  "replica-announce-port": String(port),
});

async function startSentinel(
  place: Pick<ServerPlace, "dir">,
  number: number,
  master: Address,
  tls: RedisTls | undefined,
): Promise<RunningRedis> {
  const [port, ports] = [await freePort(), await tlsOn(tls)];
  const dir = dataFolder(place, `sentinel-${number}`);
  const file = join(dir, "sentinel.conf");
  // The sentinel keeps its findings in this file.
  writeFileSync(
    file,
    [
      `port ${port}`,
      `bind ${loopback}`,
      `dir ${dir}`,
      `sentinel monitor ${masterName} ${master.host} ${master.port} ${quorum}`,
      `sentinel down-after-milliseconds ${masterName} 1000`,
      `sentinel failover-timeout ${masterName} 4000`,
      ...Object.entries(ports?.settings ?? {}).map(([name, value]) => `${name} ${value}`),
      "",
    ].join("\n"),
  );
  const sentinel = await startRedisProcess(place, port, [file, "--sentinel"]);
  // Default: sentinels look for each other and for replicas every ten seconds.
  await askRedis(port, "SENTINEL", "DEBUG", "info-period", "500", "publish-period", "200");
  return ports === undefined ? sentinel : { ...sentinel, url: ports.url };
}
