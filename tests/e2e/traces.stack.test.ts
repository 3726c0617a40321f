import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { type RunningServices, startServices } from "@posthaste/local";
import { testStores } from "@posthaste/testing";
import { Client } from "./client.ts";
import { type CollectedSpan, type Collector, startCollector } from "./collector.ts";
import { Destination } from "./destination.ts";
import { canary, collectedJourney, incoming, type Journey, publishJourney } from "./journey.ts";

let destination: Destination;
let collector: Collector;
let services: RunningServices;
let journey: Journey;
let id: string;

beforeAll(async () => {
  destination = await Destination.start();
  collector = await startCollector();
  services = await startServices({
    stores: testStores(),
    room: `traces-${randomBytes(6).toString("hex")}`,
    env: {
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_KAFKA_PARTITIONS: "2",
      POSTHASTE_REDIS_BUDGET_MS: "5000",
      POSTHASTE_OTLP_ENDPOINT: collector.url,
      POSTHASTE_TRACE_RATIO: "0",
    },
  });
  id = await publishJourney(new Client(services.gateway.port), destination);
  journey = await collectedJourney(collector, id);
}, 300_000);
afterAll(async () => {
  await services.stop();
  await collector.stop();
  await destination.stop();
});

describe("a message that is traced through six processes", () => {
  it("is one trace from its publish through claims and attempts to its callbacks", async () => {
    const { publish, attempts, callbacks, callbackAttempts } = journey;

    const claims = claimsOf(await collector.until((spans) => claimsOf(spans).length >= 2));

    expect([publish.service, publish.parentSpanId]).toEqual(["posthaste-gateway", incoming.spanId]);
    for (const span of [...claims, ...attempts])
      expect([span.service, span.traceId, span.parentSpanId]).toEqual([
        "posthaste-deliverer",
        incoming.traceId,
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

  it("is carried by Kafka: from the gateway to the log, and from the attempt to who answers back", async () => {
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

    const spans = await collector.until(
      (found) =>
        heardOf(found, "posthaste-deliverer", publishes).length > 0 &&
        heardOf(found, "posthaste-workflow-log", publishes).length > 0 &&
        heardOf(found, "posthaste-callback-dispatcher", attempts).length > 0,
    );

    const heard = spans.filter(({ name }) => name === "bus.handle");
    expect(new Set(heard.map(({ traceId }) => traceId))).toEqual(new Set([incoming.traceId]));
    expect(new Set(heard.map(({ kind }) => kind))).toEqual(new Set([5]));
  });

  it("shows nothing of what its caller has sent", () => {
    expect(collector.received()).not.toContain(canary);
  });
});

const claimsOf = (spans: readonly CollectedSpan[]): readonly CollectedSpan[] =>
  spans.filter(
    ({ name, attributes }) => name === "claim" && attributes["posthaste.message.id"] === id,
  );
