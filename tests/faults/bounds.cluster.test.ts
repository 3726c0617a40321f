/** The six services under their heaviest loads: many bytes, and no bus. This file starts the servers. */
import { readFileSync } from "node:fs";
import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  it,
  jest,
} from "@jest/globals";
import {
  freePort,
  type RunningKafka,
  type RunningService,
  type RunningServices,
  type ServiceName,
  startServices,
  startStores,
  type Stores,
} from "@posthaste/local";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";
import { Client } from "../e2e/client.ts";
import { Destination } from "../e2e/destination.ts";
import { scrape } from "../e2e/metrics.ts";

/** The stores may have to be fetched. */
const startMsMax = 1_500_000;
jest.setTimeout(300_000);
const arriveMsMax = 240_000;
const mebibyte = 1024 * 1024;

const dir = temporaryFolder();
const metricsPorts = new Map<ServiceName, number>();
let stores: Stores;
let kafka: RunningKafka;
let services: RunningServices;
let client: Client;
let destination: Destination;

beforeAll(async () => {
  stores = await startStores({ dir, mongodbUri: "" });
  if (!stores.kafka) throw new Error(`there is no Kafka: ${JSON.stringify(stores.missing)}`);
  kafka = stores.kafka;
  for (const service of ["deliverer", "scheduler"] as const)
    metricsPorts.set(service, await freePort());
  services = await startServices({
    stores,
    env: {
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_KAFKA_PARTITIONS: "2",
      POSTHASTE_REDIS_BUDGET_MS: "5000",
    },
    envOf: (service) => {
      const port = metricsPorts.get(service);
      return port === undefined ? {} : { POSTHASTE_METRICS_PORT: String(port) };
    },
  });
  client = new Client(services.gateway.port);
}, startMsMax);
afterAll(async () => {
  await services.stop();
  await stores.stop();
}, startMsMax);
beforeEach(async () => {
  destination = await Destination.start();
});
afterEach(() => destination.stop());

/** Returns the arrivals at a path, by the number that their publisher gave them. */
const numbersAt = (path: string): readonly number[] =>
  destination
    .at(path)
    .map(({ path: whole }) => Number(new URL(whole, destination.url("/")).searchParams.get("n")))
    .toSorted((a, b) => a - b);
const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n);
const numbered = (path: string, n: number): string => destination.url(`${path}?n=${n}`);

/** `resources.limits.memory` in helm/posthaste/values.yaml. */
const containerMib: Readonly<Record<ServiceName, number>> = {
  gateway: 512,
  scheduler: 512,
  deliverer: 1_024,
  "callback-dispatcher": 384,
  "workflow-log": 384,
  management: 256,
};

/** Returns the most resident memory that a process has had, as the kernel counts it. */
function residentMibMax({ process: { pid } }: RunningService): number {
  const kibibytes = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Math.round(Number(kibibytes) / 1_024);
}

describe("messages of 10 MiB with callbacks, to a destination that answers with 1 MiB", () => {
  const count = 10;

  it("all arrive, as do their callbacks, and every process stays within the memory of its container in the chart", async () => {
    const body = new Uint8Array(10 * mebibyte).fill(98);
    const answer = Buffer.alloc(mebibyte, "a");
    destination.answers("/large", (_, response) => response.end(answer));

    for (const n of upTo(count))
      await client.published(
        numbered("/large", n),
        { "Service-Callback": numbered("/called-back", n) },
        body,
      );
    await destination.arrivals("/called-back", count, arriveMsMax);

    expect(new Set(numbersAt("/large"))).toEqual(new Set(upTo(count)));
    expect(new Set(numbersAt("/called-back"))).toEqual(new Set(upTo(count)));
    expect(
      services.all.filter((each) => residentMibMax(each) > containerMib[each.service]),
    ).toEqual([]);
  });
});

describe("while Kafka is away", () => {
  const count = 30;
  const delayed = 10;
  const sent = 2 * count + delayed;

  afterEach(async () => {
    if (!kafka.process.isRunning) await kafka.process.restart();
  }, startMsMax);

  it("messages, delayed ones and callbacks are delivered, each once, and the store is asked no more often for them", async () => {
    await kafka.process.kill();
    const callsBefore = await storeCalls();
    const begunAt = performance.now();

    for (const n of upTo(count))
      await client.published(numbered("/now", n), {
        "Service-Callback": numbered("/callback", n),
      });
    for (const n of upTo(delayed))
      await client.published(numbered("/later", n), { "Service-Delay": "6s" });
    await destination.arrivals("/callback", count, arriveMsMax);
    await destination.arrivals("/later", delayed, arriveMsMax);

    const seconds = (performance.now() - begunAt) / 1_000;
    const calls = (await storeCalls()) - callsBefore;
    expect(kafka.process.isRunning).toBe(false);
    expect(calls).toBeLessThan(callsPerSecondMax * seconds + callsPerMessageMax * sent);
    expect(numbersAt("/now")).toEqual(upTo(count));
    expect(numbersAt("/callback")).toEqual(upTo(count));
    expect(numbersAt("/later")).toEqual(upTo(delayed));
  });
});

/** A round of the standby calls the store about ten times, once a second. */
const callsPerSecondMax = 40;
const callsPerMessageMax = 5;

async function storeCalls(): Promise<number> {
  let sum = 0;
  for (const port of metricsPorts.values())
    sum += (await scrape(port)).value("posthaste_store_calls_total") ?? 0;
  return sum;
}
