/**
 * The six services over stores that lose a member without ending: a set of three mongod, three Kafka brokers that
 * keep three copies, and a Redis with a replica under Sentinel. Clients and members reach each member through a proxy
 * of its own.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  openProxy,
  type ProcessControls,
  type Proxy,
  type Road,
  startKafkaSet,
  startMongodSet,
  startRedisWithSentinels,
  startServices,
} from "@posthaste/local";
import { type Cluster, counts, type Database, env, room, untilWell } from "./cluster.ts";

export type StoreName = "mongodb" | "kafka" | "redis";

export type Member = {
  /** Such as "mongodb 2". */
  readonly name: string;
  readonly store: StoreName;
  readonly process: ProcessControls;
  /** The way of all clients and other members to the member. Its own connections to the other members use theirs. */
  readonly proxy: Proxy;
  /** Reports whether the store's writes pass through this member now. */
  isFirst(): Promise<boolean>;
};

export type ClusterOfThree = Cluster & Database & { readonly members: readonly Member[] };

export async function startClusterOfThree(): Promise<ClusterOfThree> {
  const dir = mkdtempSync(join(tmpdir(), "posthaste-three-"));
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each();
    rmSync(dir, { recursive: true, force: true });
  };
  const proxies = new Map<number, Proxy>();
  const road: Road = async (to) => {
    const proxy = await openProxy({ to });
    stops.push(() => proxy.close());
    proxies.set(to.port, proxy);
    return proxy;
  };
  try {
    const mongodb = await startMongodSet({ dir }, road);
    stops.push(() => mongodb.stop());
    const kafka = await startKafkaSet({ dir }, road);
    stops.push(() => kafka.stop());
    const redis = await startRedisWithSentinels({ dir }, {}, road);
    stops.push(() => redis.stop());

    const memberOf = (store: StoreName, isFirst: (port: number) => Promise<boolean>) => {
      const servers = { mongodb: mongodb.members, kafka: kafka.members, redis: redis.servers };
      return servers[store].map(({ port, process }, i): Member => {
        const proxy = proxies.get(port);
        if (!proxy) throw new Error(`${store} ${i + 1} has no proxy`);
        const name = `${store} ${i + 1}`;
        return { name, store, process, proxy, isFirst: () => isFirst(port) };
      });
    };
    const members = [
      ...memberOf("mongodb", async (port) => (await mongodb.primary()).port === port),
      ...memberOf("kafka", () => Promise.resolve(true)),
      ...memberOf("redis", async (port) => (await redis.master()).port === port),
    ];
    const ports = [...members.map(({ proxy }) => proxy), ...redis.sentinels].map(
      ({ port }) => port,
    );
    const services = await startServices({
      stores: { mongodb, kafka, redis },
      ...{ room, counts },
      env: {
        ...env,
        POSTHASTE_REDIS_MODE: "sentinel",
        CUT_OFF_PORTS: ports.join(),
        NODE_OPTIONS: `--import ${new URL("cut-off.hook.ts", import.meta.url).href}`,
      },
    });
    stops.push(() => services.stop());
    return {
      ...{ services, members, stop },
      against: [mongodb, kafka, redis].map(({ name }) => name),
      ...{ uri: mongodb.uri, database: room },
      untilWell: () => untilWell(services),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
