/** Tests the services over a Redis Cluster of their own when one master is killed. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import {
  type RunningRedisCluster,
  type RunningServices,
  startRedisCluster,
  startServices,
} from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Client, eventually, hasStatus } from "./client.ts";
import { Destination } from "./destination.ts";
import { textOf } from "./json.ts";

const startMsMax = 180_000;
const testMsMax = 120_000;
const parallelism = 2;
const keys = ["a", "b", "c", "d", "e", "f"];
const ofEachKey = 10;
const callMs = 50;

let redis: RunningRedisCluster;
let services: RunningServices;
let destination: Destination;
let client: Client;

beforeAll(async () => {
  [redis, destination] = await Promise.all([
    startRedisCluster({ dir: temporaryFolder(), masters: 3, hasReplicas: true }),
    Destination.start(),
  ]);
  services = await startServices({
    stores: { ...testStores(), redis },
    room: `redis-${randomBytes(6).toString("hex")}`,
    // These services deliver and grant nothing.
    counts: { "callback-dispatcher": 0, "workflow-log": 0 },
    env: {
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_KAFKA_PARTITIONS: "2",
      POSTHASTE_REDIS_MODE: "cluster",
      POSTHASTE_REDIS_BUDGET_MS: "1000",
    },
  });
  client = new Client(services.gateway.port);
}, startMsMax);

afterAll(async () => {
  await services.stop();
  await Promise.all([destination.stop(), redis.stop()]);
});

/** Answers after a while. Returns the most concurrent calls under each key. */
function watchKeys(): ReadonlyMap<string, number> {
  const [running, most] = [new Map<string, number>(), new Map<string, number>()];
  for (const key of keys)
    destination.answers(`/${key}`, (_, response) => {
      const count = (running.get(key) ?? 0) + 1;
      running.set(key, count);
      most.set(key, Math.max(count, most.get(key) ?? 0));
      setTimeout(() => {
        running.set(key, (running.get(key) ?? 0) - 1);
        response.end("ok");
      }, callMs);
    });
  return most;
}

const publishUnder = (key: string) =>
  client.published(destination.url(`/${key}`), {
    "service-flow-control-key": key,
    "service-flow-control-value": `parallelism=${parallelism}`,
  });

it(
  "a publish is deduplicated and no flow key is exceeded while a replica takes over from a killed master",
  async () => {
    const most = watchKeys();
    const deduplicated = { "service-deduplication-id": "first" };
    const id = await client.published(destination.url("/once"), deduplicated);
    const again = await client.publish(destination.url("/once"), deduplicated);
    expect(again.object()).toMatchObject({ messageId: id, deduplicated: true });

    for (let i = 0; i < ofEachKey; i++) await Promise.all(keys.map(publishUnder));
    await eventually(
      () => Promise.resolve(destination.total),
      (total) => total > keys.length * parallelism,
      testMsMax,
    );
    await redis.masters[0]?.process.kill();
    await eventually(
      () => Promise.resolve(keys.map((key) => destination.at(`/${key}`).length)),
      (counts) => counts.every((count) => count >= ofEachKey),
      testMsMax,
    );
    const ids = await Promise.all(
      keys.map((key) =>
        eventually(
          () => client.publish(destination.url("/later"), { "service-deduplication-id": key }),
          hasStatus(200),
          testMsMax,
        ),
      ),
    );
    const repeated = await Promise.all(
      keys.map((key) =>
        client.publish(destination.url("/later"), { "service-deduplication-id": key }),
      ),
    );

    expect([...most.values()].filter((count) => count > parallelism)).toEqual([]);
    expect(repeated.map((reply) => textOf(reply.object()["messageId"]))).toEqual(
      ids.map((reply) => textOf(reply.object()["messageId"])),
    );
    expect(destination.at("/once")).toHaveLength(1);
  },
  testMsMax,
);
