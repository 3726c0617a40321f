import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { freePort } from "@posthaste/local";
import { type AloneServer, startAlone } from "./alone.ts";
import { eventually } from "./client.ts";
import {
  type CollectedLine,
  type CollectedSpan,
  type Collector,
  startCollector,
} from "./collector.ts";
import { always, deadUrl, Destination } from "./destination.ts";
import { promisedBy } from "./metrics.ts";
import { describeTracedRuns } from "./traced-runs.ts";
import {
  canary,
  collectedJourney,
  expectAttemptsOnly,
  incoming,
  incomingElse,
  type Journey,
  publishJourney,
  untracedJourney,
} from "./journey.ts";

let destination: Destination;
let collector: Collector;
/** Traces everything that its callers trace, and everything that fails. */
let server: AloneServer;
/** Traces everything that begins here, too. */
let tracing: AloneServer;

beforeAll(async () => {
  destination = await Destination.start();
  collector = await startCollector();
  const { url } = collector;
  [server, tracing] = await Promise.all([
    startAlone({ env: { POSTHASTE_OTLP_ENDPOINT: url, POSTHASTE_TRACE_RATIO: "0" } }),
    startAlone({ env: { POSTHASTE_OTLP_ENDPOINT: `${url}/`, POSTHASTE_TRACE_RATIO: "1" } }),
  ]);
}, 180_000);
afterAll(async () => {
  await server.stop();
  await tracing.stop();
  await collector.stop();
  await destination.stop();
});

/** Resolves when the collector has all spans so far, which a process sends in their order. */
async function untilSent({ client }: AloneServer): Promise<void> {
  const { traceId, spanId } = incomingElse;
  const traceparent = `00-${traceId}-${spanId}-01`;
  const id = await client.published(destination.url("/sent"), { traceparent });
  await collector.until((spans) =>
    spans.some(
      ({ name, attributes }) => name === "attempt" && attributes["posthaste.message.id"] === id,
    ),
  );
}

describe("a traced message", () => {
  let journey: Journey;

  beforeAll(async () => {
    const id = await publishJourney(server.client, destination);
    journey = await collectedJourney(collector, id);
  }, 180_000);

  it("is one trace, which continues that of its caller", () => {
    const { publish, attempts, callbacks, callbackAttempts } = journey;

    expect(publish.parentSpanId).toBe(incoming.spanId);
    expect(attempts.map(({ parentSpanId }) => parentSpanId)).toEqual([
      publish.spanId,
      publish.spanId,
    ]);
    expect(callbacks.map(({ parentSpanId }) => parentSpanId)).toEqual([
      publish.spanId,
      publish.spanId,
    ]);
    expect(callbackAttempts.map(({ parentSpanId }) => parentSpanId).toSorted()).toEqual(
      callbacks.map(({ spanId }) => spanId).toSorted(),
    );
  });

  it("shows the outcome and the destination of each attempt", () => {
    const [first, second] = journey.attempts;

    expect(first).toMatchObject({
      service: "posthaste-standalone",
      kind: 3,
      status: 2,
      attributes: {
        "posthaste.outcome": "refused",
        "posthaste.retried": "0",
        "http.response.status_code": "500",
        "http.request.method": "POST",
        "server.address": "127.0.0.1",
        "server.port": String(destination.port),
      },
    });
    expect(second?.attributes).toMatchObject({
      "posthaste.outcome": "delivered",
      "posthaste.retried": "1",
      "http.response.status_code": "200",
    });
    expect(second?.status).not.toBe(2);
  });

  it("gives its destination the span of the attempt", () => {
    const told = destination.at("/journey").map(({ headers }) => headers["traceparent"]);

    expect(told).toEqual(
      journey.attempts.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    );
  });

  it("shows no data of its caller, and none of the host", () => {
    const { received } = collector;

    expect(received()).not.toContain(canary);
    expect(received()).not.toContain(server.dataDir);
    expect(received()).not.toMatch(/host\.name|process\.(command|owner|pid)/);
  });

  it("delivers the traceparent that its caller forwards, and no other", async () => {
    const forwarded = "00-11111111111111111111111111111111-2222222222222222-01";

    await server.client.published(destination.url("/forwarded"), {
      traceparent: `00-${incoming.traceId}-${incoming.spanId}-01`,
      "service-forward-traceparent": forwarded,
    });

    const { headers, rawHeaders } = await destination.arrival("/forwarded", 60_000);
    expect(headers["traceparent"]).toBe(forwarded);
    expect(rawHeaders.filter((name) => name.toLowerCase() === "traceparent")).toHaveLength(1);
  });
});

describe("an untraced message", () => {
  it.each([
    [
      "since its caller's trace is not sampled",
      "/not-sampled",
      () => tracing,
      { traceparent: notSampled() },
    ],
    ["since none is to be", "/untraced", () => server, {}],
  ])("leaves no span and sends no header, %s", async (_, path, by, headers) => {
    const id = await by().client.published(destination.url(path), headers);
    const arrival = await destination.arrival(path, 60_000);
    await untilSent(by());

    expect(arrival.headers["traceparent"]).toBeUndefined();
    expect(collector.received()).not.toContain(id);
  });
});

describe("an untraced message that fails", () => {
  it("is traced from its first failure on, and one that succeeds is not", async () => {
    const { client } = server;

    const well = await client.published(destination.url("/well"));
    await destination.arrival("/well", 60_000);
    const spans = await untracedJourney({ client, destination, collector }, "/fails");
    const dead = await client.published(await deadUrl(), { "service-retries": "0" });
    const isOfDead = ({ attributes }: CollectedSpan) => attributes["posthaste.message.id"] === dead;
    const found = await collector.until((all) => all.some(isOfDead));

    expectAttemptsOnly(spans);
    expect(destination.at("/fails").map(({ headers }) => headers["traceparent"])).toEqual([
      undefined,
      ...spans.slice(1).map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`),
    ]);
    expect(found.filter(isOfDead)).toMatchObject([
      { status: 2, attributes: { "posthaste.outcome": "unreachable" } },
    ]);
    expect(collector.received()).not.toContain(well);
  });
});

describe("a publish without a trace of the caller", () => {
  it("is traced when the setting samples all, with or without a readable traceparent", async () => {
    const { client } = tracing;

    const ids = [
      await client.published(destination.url("/begins")),
      await client.published(destination.url("/begins"), { traceparent: `00-${canary}` }),
    ];
    await destination.arrivals("/begins", 2, 60_000);
    await untilSent(tracing);

    const publishes = collector.spans.filter(
      ({ name, attributes }) =>
        name === "publish" && ids.includes(attributes["posthaste.message.id"] ?? ""),
    );
    expect(publishes.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, undefined]);
    expect(new Set(publishes.map(({ traceId }) => traceId)).size).toBe(2);
    expect(collector.received()).not.toContain(canary);
  });
});

describeTracedRuns(() => ({ server, collector, destination }));

describe("a collector named by the standard's variables", () => {
  let server: AloneServer;
  let everything: Collector;
  let id: string;

  beforeAll(async () => {
    everything = await startCollector();
    server = await startAlone({
      env: {
        OTEL_EXPORTER_OTLP_ENDPOINT: everything.url,
        OTEL_EXPORTER_OTLP_HEADERS: "x-key=key-of-the-collector",
        OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=trial",
        OTEL_METRIC_EXPORT_INTERVAL: "200",
        POSTHASTE_TRACE_RATIO: "1",
        POSTHASTE_LOG_LEVEL: "debug",
      },
    });
    const { client } = server;
    id = await client.published(`${destination.url("/everything")}?${canary}-query`, {}, canary);
    await destination.arrival("/everything", 60_000);
  });
  afterAll(async () => {
    await server.stop();
    await everything.stop();
  });

  it("receives the metrics of the catalogue with the values that Prometheus reads", async () => {
    const promised = promisedBy("standalone");
    const metric = (name: string) => everything.metrics.get(`posthaste-standalone ${name}`);

    // A gauge that was first read while its service started is read again five seconds later.
    await eventually(
      async () => promised.filter((name) => !metric(name)),
      (missing) =>
        missing.length === 0 && metric("posthaste_attempts_total")?.values["delivered"] === 1,
      60_000,
    );

    expect([...everything.metrics.values()].map(({ name }) => name).toSorted()).toEqual(
      promised.toSorted(),
    );
    expect(metric("posthaste_attempts_total")).toMatchObject({ type: "sum" });
    expect(metric("posthaste_delivery_latency_seconds")).toMatchObject({
      type: "histogram",
      values: { "": 1 },
    });
    expect(metric("process_open_fds")).toMatchObject({ type: "gauge" });
  });

  it("receives the lines of the log, those of a message with its trace", async () => {
    const isOfMessage = ({ event, attributes }: CollectedLine) =>
      event === "attempt.ended" && attributes["id"] === id;
    const lines = await eventually(
      async () => everything.lines,
      (found) => found.some(isOfMessage),
      60_000,
    );
    const spans = await everything.until((found) => found.some(({ name }) => name === "attempt"));
    const attempt = spans.find(({ name }) => name === "attempt");

    expect(lines.filter(isOfMessage)).toMatchObject([
      { level: "debug", traceId: attempt?.traceId, spanId: attempt?.spanId },
    ]);
    expect(lines.map(({ event }) => event)).toContain("service.started");
  });

  it("receives its key and its resource names, and nothing that a caller has sent", () => {
    const { received } = everything;

    expect(received()).toContain("key-of-the-collector");
    expect(received()).toContain("deployment.environment.name");
    expect(received()).toContain("service.instance.id");
    expect(received()).not.toContain(canary);
  });
});

describe("a collector that is away", () => {
  it("causes one line of the log and nothing else: messages are delivered, and the process ends in order", async () => {
    const server = await startAlone({
      env: {
        POSTHASTE_OTLP_ENDPOINT: `http://127.0.0.1:${await freePort()}`,
        POSTHASTE_TRACE_RATIO: "1",
      },
    });
    destination.answers("/away", always(200));

    for (let n = 0; n < 3; n++) await server.client.published(destination.url("/away"));
    await destination.arrivals("/away", 3, 60_000);
    await server.stop();

    expect(server.output().match(/traces\.refused/g)?.length ?? 0).toBeLessThanOrEqual(1);
  }, 240_000);
});

function notSampled(): string {
  return `00-${"a".repeat(32)}-${"b".repeat(16)}-00`;
}
