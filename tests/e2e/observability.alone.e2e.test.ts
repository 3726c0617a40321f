import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { freePort, type RunningPrometheus } from "@posthaste/local";
import { metricCatalogue } from "@posthaste/ports";
import { type AloneServer, startAlone } from "./alone.ts";
import { eventually } from "./client.ts";
import { type Collector, startCollector } from "./collector.ts";
import { Destination } from "./destination.ts";
import { promisedBy } from "./metrics.ts";
import {
  askedByAll,
  describeWithPrometheus,
  fetchMsMax,
  firing,
  startScraping,
  unanswered,
} from "./prometheus.ts";

/** A standalone has no Kafka, Redis or MongoDB. */
const absentHere = Object.keys(metricCatalogue).filter(
  (name) => !promisedBy("standalone").includes(name),
);
/** They answer only while something is wrong, which is what they are for. */
const answersOnlyInTrouble = ['absent(up{job=~"posthaste-(deliverer|standalone)"} == 1)'];

type Exemplars = {
  readonly exemplars: readonly { readonly labels: Readonly<Record<string, string>> }[];
};

describeWithPrometheus("Prometheus, which reads a standalone", () => {
  let server: AloneServer;
  let destination: Destination;
  let prometheus: RunningPrometheus;
  let collector: Collector;

  beforeAll(async () => {
    destination = await Destination.start();
    const port = await freePort();
    collector = await startCollector();
    server = await startAlone({
      env: {
        POSTHASTE_METRICS_PORT: String(port),
        POSTHASTE_OTLP_ENDPOINT: collector.url,
        POSTHASTE_TRACE_RATIO: "1",
      },
    });
    prometheus = await startScraping(new Map([["standalone", port]]));
  }, fetchMsMax);
  afterAll(async () => {
    await prometheus.stop();
    await server.stop();
    await collector.stop();
    await destination.stop();
  });

  it("answers every expression of every panel, variable and rule that a standalone can answer", async () => {
    const asked = askedByAll();
    const exceptions = asked.filter(
      (text) =>
        answersOnlyInTrouble.includes(text) || absentHere.some((name) => text.includes(name)),
    );

    const left = await eventually(
      async () => {
        // A rate wants to see its counter move.
        await server.client.published(destination.url("/one"));
        return unanswered(prometheus, asked);
      },
      (found) => found.length <= exceptions.length,
      60_000,
    );

    expect(left.toSorted()).toEqual(exceptions.toSorted());
  });

  it("leads from the latency of deliveries to the trace of one message, which the collector has", async () => {
    await server.client.published(destination.url("/traced"));
    const asked = new URLSearchParams({
      query: "posthaste_delivery_latency_seconds_bucket",
      start: "0",
      end: String(Math.ceil(Date.now() / 1_000) + 3_600),
    });

    const [first] = await eventually(
      async () =>
        (await prometheus.get(`query_exemplars?${asked.toString()}`)) as readonly Exemplars[],
      (found) => found.length > 0,
      60_000,
    );
    const traceId = first?.exemplars[0]?.labels["trace_id"];
    const spans = await collector.until((found) =>
      found.some((span) => span.traceId === traceId && span.name === "attempt"),
    );

    const names = spans.filter((span) => span.traceId === traceId).map(({ name }) => name);
    expect(new Set(names)).toEqual(new Set(["publish", "attempt"]));
  });

  it("has nothing to tell of while all is well", async () => {
    await eventually(
      () => prometheus.ask("posthaste:waiting:max"),
      (found) => found.length === 1,
      60_000,
    );

    expect(await firing(prometheus)).toEqual([]);
  });
});
