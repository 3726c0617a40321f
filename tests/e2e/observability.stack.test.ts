import { randomBytes } from "node:crypto";
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
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Busy } from "./busy.ts";
import { Client, eventually } from "./client.ts";
import { type Collector, startCollector } from "./collector.ts";
import { Destination } from "./destination.ts";
import {
  askedByAll,
  describeWithPrometheus,
  exemplarTrace,
  fetchMsMax,
  firing,
  silentAmong,
  startScraping,
} from "./prometheus.ts";

const services = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
  "management",
] as const;
describeWithPrometheus("Prometheus, which reads the six services", () => {
  const dir = temporaryFolder();
  const ports = new Map<string, number>();
  let redis: RunningRedis;
  let running: RunningServices;
  let destination: Destination;
  let client: Client;
  let prometheus: RunningPrometheus;
  let collector: Collector;

  beforeAll(async () => {
    destination = await Destination.start();
    collector = await startCollector();
    for (const service of services) ports.set(service, await freePort());
    // A Redis of its own, since the test stops it.
    redis = await startRedis({ dir });
    running = await startServices({
      stores: { ...testStores(), redis },
      room: `observed-${randomBytes(6).toString("hex")}`,
      env: {
        POSTHASTE_LOG_LEVEL: "warn",
        POSTHASTE_KAFKA_PARTITIONS: "2",
        POSTHASTE_REDIS_BUDGET_MS: "5000",
        POSTHASTE_OTLP_ENDPOINT: collector.url,
        POSTHASTE_TRACE_RATIO: "1",
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
    await collector.stop();
    await destination.stop();
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

  it("every expression of every panel, variable and rule has data", async () => {
    const busy = new Busy(client, destination);
    await busy.begin();

    const silent = await silentAmong(prometheus, askedByAll(), () => busy.round());

    expect(silent).toEqual([]);
  }, 240_000);

  it("an exemplar of the latency of deliveries leads to the trace of one message over its processes", async () => {
    await client.published(destination.url("/traced"));

    const traceId = await exemplarTrace(prometheus);
    const spans = await collector.until((found) =>
      found.some((span) => span.traceId === traceId && span.name === "attempt"),
    );

    const mine = spans.filter((span) => span.traceId === traceId);
    expect(mine.map(({ name, service }) => `${name} ${service}`)).toEqual(
      expect.arrayContaining(["publish posthaste-gateway", "attempt posthaste-deliverer"]),
    );
  });

  it("an alert fires while no deliverer runs, and ends when one runs again", async () => {
    const name = "PosthasteNoDeliverer";
    expect(await firing(prometheus)).not.toContain(name);

    await Promise.all(running.of("deliverer").map((one) => one.process.kill()));
    expect(await fires(name, true)).toContain("PosthasteProcessDown");

    await Promise.all(running.of("deliverer").map((one) => one.process.restart()));
    expect(await fires(name, false)).not.toContain(name);
  });

  it("an alert fires while Redis is away", async () => {
    const name = "PosthasteRedisAway";
    expect(await firing(prometheus)).not.toContain(name);

    await redis.process.kill();
    const found = await fires(name, true, async () => {
      // The publish is refused, since a duplicate could not be recognised.
      await client.publish(destination.url("/two"), { "service-deduplication-id": "two" });
    });

    expect(found).toContain(name);
  });
});
