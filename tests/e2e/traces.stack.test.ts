import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type RunningServices, startServices } from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { Client, eventually } from "./client.ts";
import { type CollectedSpan, type Collector, startCollector } from "./collector.ts";
import { Destination } from "./destination.ts";
import { describeTracedRuns } from "./traced-runs.ts";
import {
  canary,
  collectedJourney,
  expectAttemptsOnly,
  incoming,
  type Incoming,
  incomingElse,
  type Journey,
  publishJourney,
  untracedJourney,
} from "./journey.ts";

let destination: Destination;
let collector: Collector;
let services: RunningServices;

beforeAll(async () => {
  destination = await Destination.start();
  collector = await startCollector();
  services = await startServices({
    stores: testStores(),
    room: `traces-${randomBytes(6).toString("hex")}`,
    env: {
      OTEL_METRICS_EXPORTER: "otlp",
      OTEL_LOGS_EXPORTER: "otlp",
      OTEL_METRIC_EXPORT_INTERVAL: "500",
      POSTHASTE_KAFKA_PARTITIONS: "2",
      POSTHASTE_REDIS_BUDGET_MS: "5000",
      POSTHASTE_OTLP_ENDPOINT: collector.url,
      POSTHASTE_TRACE_RATIO: "0",
    },
  });
}, 300_000);
afterAll(async () => {
  await services.stop();
  await collector.stop();
  await destination.stop();
});

/** The log gets only the attempts of the first message. It gets a publish only if no deliverer could be named. */
describe.each<{ name: string; path: string; from: Incoming; headers: Record<string, string> }>([
  { name: "may be named", path: "/journey", from: incoming, headers: {} },
  {
    name: "is redacted, so that the bus has no body of it",
    path: "/redacted",
    from: incomingElse,
    headers: { "service-redact-fields": "body" },
  },
])("a message that $name, traced through six processes", ({ path, from, headers }) => {
  let journey: Journey;
  let id: string;

  beforeAll(async () => {
    const client = new Client(services.gateway.port);
    id = await publishJourney(client, destination, { path, from, headers });
    journey = await collectedJourney(collector, id, from);
  }, 180_000);

  const claimsOf = (spans: readonly CollectedSpan[]): readonly CollectedSpan[] =>
    spans.filter(
      ({ name, attributes }) => name === "claim" && attributes["posthaste.message.id"] === id,
    );

  it("is one trace from its publish through claims and attempts to its callbacks", async () => {
    const { publish, attempts, callbacks, callbackAttempts } = journey;

    const claims = claimsOf(await collector.until((spans) => claimsOf(spans).length >= 2));

    expect([publish.service, publish.parentSpanId]).toEqual(["posthaste-gateway", from.spanId]);
    for (const span of [...claims, ...attempts])
      expect([span.service, span.traceId, span.parentSpanId]).toEqual([
        "posthaste-deliverer",
        from.traceId,
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

  it("crosses Kafka: from the gateway to the deliverer, and from the attempt to its effects", async () => {
    const heardOf = (
      spans: readonly CollectedSpan[],
      service: string,
      parents: readonly string[],
    ) =>
      spans.filter(
        (span) =>
          span.name === "bus.handle" &&
          span.service === service &&
          parents.includes(span.parentSpanId ?? ""),
      );
    const attempts = journey.attempts.map(({ spanId }) => spanId);
    const publishes = [journey.publish.spanId];
    const isRedacted = from === incomingElse;

    const spans = await collector.until(
      (found) =>
        heardOf(found, "posthaste-deliverer", publishes).length > 0 &&
        heardOf(found, "posthaste-workflow-log", attempts).length > 0 &&
        (!isRedacted || heardOf(found, "posthaste-workflow-log", publishes).length > 0) &&
        heardOf(found, "posthaste-callback-dispatcher", attempts).length > 0,
    );

    const heard = spans.filter(
      ({ name, traceId }) => name === "bus.handle" && traceId === from.traceId,
    );
    expect(heard.length).toBeGreaterThan(0);
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set([5]));
    const traces = new Set(spans.map(({ traceId }) => traceId));
    expect(traces.isSubsetOf(new Set([incoming.traceId, incomingElse.traceId]))).toBe(true);
  });

  it("shows no data of its caller", () => {
    expect(collector.received()).not.toContain(canary);
  });
});

it("an untraced message that fails is traced from its first failure on, in each process", async () => {
  const client = new Client(services.gateway.port);

  const spans = await untracedJourney({ client, destination, collector }, "/fails");

  expectAttemptsOnly(spans);
  expect(new Set(spans.map(({ service }) => service))).toEqual(new Set(["posthaste-deliverer"]));
}, 180_000);

it("each process sends its metrics and the lines of its log", async () => {
  const six = [
    "gateway",
    "scheduler",
    "deliverer",
    "callback-dispatcher",
    "workflow-log",
    "management",
  ];
  const named = six.map((name) => `posthaste-${name}`);
  const { lines, metrics } = collector;

  const [ofMetrics, ofLines] = await eventually(
    async () =>
      [[...metrics.values()], lines].map((all) => new Set(all.map(({ service }) => service))),
    (found) => found.every((services) => services.size === six.length),
    60_000,
  );

  expect(ofMetrics).toEqual(new Set(named));
  expect(ofLines).toEqual(new Set(named));
  expect(
    metrics.get("posthaste-deliverer posthaste_attempts_total")?.values["delivered"],
  ).toBeGreaterThan(0);
}, 120_000);

describeTracedRuns(() => {
  const { port } = services.gateway;
  return { server: { client: new Client(port), port }, collector, destination };
});
