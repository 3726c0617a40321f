/**
 * Tests a rolling upgrade: of each service that works on stored data, one process of this build runs beside one of a
 * newer build, which all other services have. The older build leaves unknown items to the newer one (ADR 27).
 */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { Client as Qstash } from "@upstash/qstash";
import { Client as Workflows, serve } from "@upstash/workflow";
import { freePort, type RunningServices, type ServiceName, startServices } from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { Client, eventually } from "./client.ts";
import { Destination } from "./destination.ts";
import { developmentToken } from "./server-process.ts";
import { scrape } from "./metrics.ts";
import { WorkflowEndpoint } from "./workflow-endpoint.ts";

const mixed = ["scheduler", "deliverer", "callback-dispatcher"] as const;
const newer = { NODE_OPTIONS: `--import=${join(import.meta.dirname, "newer-build.hook.ts")}` };
const isOlder = (service: ServiceName, number: number) =>
  mixed.some((name) => name === service) && number === 2;
const runs = 8;
const turns = 12;
const plain = 40;

let olderMetrics: number;
let services: RunningServices;
let destination: Destination;
let endpoint: WorkflowEndpoint;

beforeAll(async () => {
  destination = await Destination.start();
  endpoint = await WorkflowEndpoint.start();
  olderMetrics = await freePort();
  services = await startServices({
    stores: testStores(),
    room: `older-${randomBytes(6).toString("hex")}`,
    counts: Object.fromEntries(mixed.map((service) => [service, 2])),
    env: {
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_KAFKA_PARTITIONS: "4",
      POSTHASTE_REDIS_BUDGET_MS: "5000",
    },
    envOf: (service, number) => ({
      ...(!isOlder(service, number) && newer),
      ...(service === "deliverer" &&
        number === 2 && { POSTHASTE_METRICS_PORT: String(olderMetrics) }),
    }),
  });
}, 300_000);
afterAll(async () => {
  await services.stop();
  await endpoint.stop();
  await destination.stop();
});

const attemptsOfOlder = async (): Promise<number> =>
  (await scrape(olderMetrics)).value('posthaste_attempts_total{outcome="delivered"}') ?? 0;

it("an older process delivers the records that it understands, and leaves queues and runs to the newer process, which ends them right", async () => {
  const client = new Client(services.gateway.port);
  const baseUrl = `http://127.0.0.1:${services.gateway.port}`;
  const qstashClient = new Qstash({ baseUrl, token: developmentToken });
  const workflows = new Workflows({ baseUrl, token: developmentToken });
  const results: unknown[] = [];
  const { handler } = serve<number>(
    async (context) => {
      const one = await context.run("one", () => context.requestPayload);
      await context.sleep("a second", 1);
      results.push(await context.run("two", () => one * 2));
    },
    { qstashClient, disableTelemetry: true },
  );
  const url = endpoint.route("/run", handler);

  const started = await Promise.all(
    Array.from({ length: runs }, (_, body) => workflows.trigger({ url, body, retries: 0 })),
  );
  for (let turn = 0; turn < turns; turn++)
    await client.post(`/v2/enqueue/orders/${destination.url("/turn")}`, {}, String(turn));
  // Work of which only the older processes get a hint, or which they would ring, waits until they have ended.
  await eventually(
    async () => endpoint.deliveries("/run").length,
    (deliveries) => deliveries > 0,
  );
  expect(await attemptsOfOlder()).toBe(0);

  for (let message = 0; message < plain; message++)
    await client.published(destination.url("/plain"), {
      "service-callback": destination.url("/callback"),
    });
  await destination.arrivals("/callback", plain);
  expect(await attemptsOfOlder()).toBeGreaterThan(0);
  const own = services.all.filter(({ name }) => name.endsWith(" 2"));
  // The upgrade continues: the newer processes take over the older ones' share.
  await Promise.all(own.map(({ process }) => process.kill("SIGTERM")));

  await destination.arrivals("/turn", turns, 120_000);
  const states = await eventually(
    () =>
      Promise.all(
        started.map(async ({ workflowRunId }) => {
          const { runs: found } = await workflows.logs({ filter: { workflowRunId } });
          return found[0]?.workflowState;
        }),
      ),
    (found) => found.every((state) => state !== undefined && state !== "RUN_STARTED"),
    120_000,
  );
  expect(states).toEqual(started.map(() => "RUN_SUCCESS"));
  expect(results.toSorted()).toEqual(started.map((_, index) => index * 2).toSorted());
  expect(destination.at("/turn").map(({ body }) => Number(body.toString()))).toEqual(
    Array.from({ length: turns }, (_, turn) => turn),
  );
}, 400_000);
