import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import {
  freePort,
  type RunningPrometheus,
  type RunningRedis,
  type RunningServices,
  startRedis,
  startServices,
} from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { Client, eventually } from "./client.ts";
import { Destination } from "./destination.ts";
import {
  askedByAll,
  describeWithPrometheus,
  fetchMsMax,
  firing,
  startScraping,
  unanswered,
} from "./prometheus.ts";

const services = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
  "management",
] as const;
/** It answers only while something is wrong, which is what it is for. */
const answersOnlyInTrouble = ['absent(up{job=~"posthaste-(deliverer|standalone)"} == 1)'];

describeWithPrometheus("Prometheus, which reads the six services", () => {
  const dir = mkdtempSync(join(tmpdir(), "posthaste-observed-"));
  const ports = new Map<string, number>();
  let redis: RunningRedis;
  let running: RunningServices;
  let destination: Destination;
  let client: Client;
  let prometheus: RunningPrometheus;

  beforeAll(async () => {
    destination = await Destination.start();
    for (const service of services) ports.set(service, await freePort());
    // Its own, since it is stopped.
    redis = await startRedis({ dir });
    running = await startServices({
      stores: { ...testStores(), redis },
      room: `observed-${randomBytes(6).toString("hex")}`,
      env: {
        POSTHASTE_LOG_LEVEL: "warn",
        POSTHASTE_KAFKA_PARTITIONS: "2",
        POSTHASTE_REDIS_BUDGET_MS: "5000",
      },
      envOf: (service) => ({ POSTHASTE_METRICS_PORT: String(ports.get(service)) }),
    });
    client = new Client(running.gateway.port);
    prometheus = await startScraping(ports);
  }, fetchMsMax);
  afterAll(async () => {
    await prometheus.stop();
    await running.stop();
    await redis.process.stop();
    await destination.stop();
    rmSync(dir, { recursive: true });
  });

  const fires = (name: string, isFiring: boolean, meanwhile = async (): Promise<void> => {}) =>
    eventually(
      async () => {
        await meanwhile();
        return firing(prometheus);
      },
      (found) => found.includes(name) === isFiring,
      60_000,
    );

  it("answers every expression of every panel, variable and rule", async () => {
    const left = await eventually(
      async () => {
        // A rate wants to see its counter move.
        await client.published(destination.url("/one"));
        return unanswered(prometheus, askedByAll());
      },
      (found) => found.length <= answersOnlyInTrouble.length,
      60_000,
    );

    expect(left).toEqual(answersOnlyInTrouble);
  });

  it("tells that no deliverer is left, and when there is one again", async () => {
    const name = "PosthasteNoDeliverer";
    expect(await firing(prometheus)).not.toContain(name);

    await Promise.all(running.of("deliverer").map((one) => one.process.kill()));
    expect(await fires(name, true)).toContain("PosthasteProcessDown");

    await Promise.all(running.of("deliverer").map((one) => one.process.restart()));
    expect(await fires(name, false)).not.toContain(name);
  });

  it("tells that Redis is away", async () => {
    const name = "PosthasteRedisAway";
    expect(await firing(prometheus)).not.toContain(name);

    await redis.process.kill();
    const found = await fires(name, true, async () => {
      // It is refused, as it must be: whether it is a duplicate cannot be told.
      await client.publish(destination.url("/two"), { "service-deduplication-id": "two" });
    });

    expect(found).toContain(name);
  });
});
