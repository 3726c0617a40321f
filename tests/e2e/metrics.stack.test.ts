import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { openDocuments } from "@posthaste/documents-mongo";
import { freePort, type RunningServices, startServices } from "@posthaste/local";
import { type Reporter } from "@posthaste/ports";
import { testStores } from "@posthaste/testing";
import { Client, eventually } from "./client.ts";
import { always, Destination } from "./destination.ts";
import { runAndWait } from "./metered-runs.ts";
import { hasTurn, holdTwoInAQueue } from "./metered-lines.ts";
import { promisedBy, scrape, type Scrape } from "./metrics.ts";
import { itReadsLikePrometheus } from "./promtool.ts";
import { parts } from "./seed.ts";

const stores = testStores();
const room = `metrics-${randomBytes(6).toString("hex")}`;
const reporters = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
  "management",
] as const satisfies readonly Reporter[];
const ports = new Map<string, number>();
let services: RunningServices;
let destination: Destination;

beforeAll(async () => {
  destination = await Destination.start();
  for (const service of reporters) ports.set(service, await freePort());
  services = await startServices({
    stores,
    room,
    env: {
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_KAFKA_PARTITIONS: "2",
      POSTHASTE_REDIS_BUDGET_MS: "5000",
    },
    envOf: (service) => ({ POSTHASTE_METRICS_PORT: String(ports.get(service)) }),
  });
}, 180_000);
afterAll(async () => {
  await services.stop();
  await destination.stop();
});

const of = (service: Reporter): Promise<Scrape> => scrape(ports.get(service) ?? 0);
const until = (service: Reporter, test: (found: Scrape) => boolean): Promise<Scrape> =>
  eventually(() => of(service), test, 60_000);

describe("the metrics of six processes", () => {
  it.each(reporters)("of the %s are exactly those of the catalogue", async (name) => {
    const { types } = await of(name);

    expect([...types.keys()]).toEqual(promisedBy(name));
  });

  it("show the way of one message from the gateway to its callback", async () => {
    const client = new Client(services.gateway.port);
    destination.answers("/no", always(400));
    await client.published(destination.url("/no"), {
      "service-retries": "0",
      "service-callback": destination.url("/callback"),
    });

    const gateway = await until("gateway", ({ value }) => value(written) !== undefined);
    const deliverer = await until(
      "deliverer",
      ({ value }) =>
        value('posthaste_attempts_total{outcome="delivered"}') === 1 && (value(written) ?? 0) >= 2,
    );
    const dispatcher = await until("callback-dispatcher", ({ value }) => (value(heard) ?? 0) >= 1);
    const log = await until(
      "workflow-log",
      ({ value }) => value("posthaste_dead_letters") === 1 && (value(heard) ?? 0) >= 1,
    );
    const scheduler = await until("scheduler", ({ value }) => value("posthaste_lane_depth") === 0);

    expect(gateway.value('posthaste_messages_accepted_total{result="new"}')).toBe(1);
    expect(gateway.value(written)).toBeGreaterThanOrEqual(1);
    expect(deliverer.value('posthaste_attempts_total{outcome="refused"}')).toBe(1);
    expect(dispatcher.value('posthaste_callbacks_total{kind="callback"}')).toBe(1);
    expect(log.value("posthaste_dead_letters")).toBe(1);
    expect(scheduler.value("posthaste_oldest_past_due_seconds")).toBeGreaterThanOrEqual(0);
    expect(scheduler.value('posthaste_shard_owners{shard="63"}')).toBe(1);
  });
});

describe("the metrics of six processes over stores", () => {
  for (const name of reporters) itReadsLikePrometheus(name, () => ports.get(name) ?? 0);
});

it("count runs", async () => {
  await runAndWait(new Client(services.gateway.port), destination.url("/run"));

  const scheduler = await until("scheduler", ({ value }) => value("posthaste_runs_waiting") === 1);
  const gateway = await of("gateway");
  const deliverer = await until(
    "deliverer",
    ({ value }) => (value("posthaste_run_delivery_wait_seconds_count") ?? 0) >= 2,
  );

  expect(scheduler.value("posthaste_runs_active")).toBe(1);
  expect(scheduler.value("posthaste_run_oldest_past_due_seconds")).toBeGreaterThanOrEqual(0);
  expect(gateway.value('posthaste_runs_total{event="started"}')).toBe(2);
  expect(gateway.value('posthaste_runs_total{event="succeeded"}')).toBe(1);
  expect(gateway.value('posthaste_run_entries_total{role="wait"}')).toBe(2);
  expect(deliverer.value('posthaste_runs_total{event="failed"}')).toBe(0);
});

it("show how many messages wait in lanes, and how old the oldest turn is", async () => {
  const client = new Client(services.gateway.port);
  const answered = Promise.withResolvers<void>();
  destination.answers("/held", (_, response) => void answered.promise.then(() => response.end()));
  for (let n = 0; n < 3; n++)
    await client.published(destination.url("/held"), {
      "service-flow-control-key": "one at a time",
      "service-flow-control-value": "parallelism=1",
    });

  const held = await holdTwoInAQueue(client, destination);

  const scheduler = await until(
    "scheduler",
    (found) => found.value("posthaste_lane_depth") === 2 && hasTurn(found),
  );
  answered.resolve();
  held.release();

  expect(scheduler.value("posthaste_lane_depth")).toBe(2);
  expect(scheduler.value("posthaste_queue_depth")).toBe(1);
});

const written = "posthaste_commit_writes_sum";
const heard = 'posthaste_bus_total{what="heard"}';

describe("counting waiting messages and dead letters in MongoDB", () => {
  it("ends at the given bound", async () => {
    const uri = stores.mongodb?.uri ?? "";
    const documents = await openDocuments({ uri, database: `${room}-sizes`, ...parts });
    try {
      const { sizes } = documents.ports;
      const counted = await eventually(
        () => Promise.all([sizes.waiting(10), sizes.deadLetters(10)]).catch(() => undefined),
        (found) => found !== undefined,
        60_000,
      );

      expect(counted).toEqual([0, 0]);
    } finally {
      await documents.drop();
      await documents.close();
    }
  });
});
