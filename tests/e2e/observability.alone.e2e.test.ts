import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { freePort, type RunningPrometheus } from "@posthaste/local";
import { metricCatalogue } from "@posthaste/ports";
import { type AloneServer, startAlone } from "./alone.ts";
import { Busy } from "./busy.ts";
import { eventually, hasLength } from "./client.ts";
import { type Collector, startCollector } from "./collector.ts";
import { Destination } from "./destination.ts";
import { promisedBy } from "./metrics.ts";
import {
  askedByAll,
  describeWithPrometheus,
  exemplarTrace,
  fetchMsMax,
  firing,
  silentAmong,
  startScraping,
} from "./prometheus.ts";

/** A standalone has no Kafka, Redis or MongoDB. */
const absentHere = Object.keys(metricCatalogue).filter(
  (name) => !promisedBy("standalone").includes(name),
);
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

  it("no alert of a standalone fires while all is well", async () => {
    await eventually(() => prometheus.ask("posthaste:waiting:max"), hasLength(1), 60_000);

    // Before its first scrape Prometheus knows of no deliverer.
    const found = await eventually(() => firing(prometheus), hasLength(0));

    expect(found).toEqual([]);
  });

  it("every expression of every panel, variable and rule that concerns a standalone has data", async () => {
    const busy = new Busy(server.client, destination);
    const asked = askedByAll().filter((text) => !absentHere.some((name) => text.includes(name)));
    await busy.begin();

    const silent = await silentAmong(prometheus, asked, () => busy.round());

    expect(silent).toEqual([]);
  }, 240_000);

  it("an exemplar of the latency of deliveries leads to the trace of one message in the collector", async () => {
    await server.client.published(destination.url("/traced"));
    const traceId = await exemplarTrace(prometheus);
    const spans = await collector.until((found) =>
      found.some((span) => span.traceId === traceId && span.name === "attempt"),
    );

    const names = spans.filter((span) => span.traceId === traceId).map(({ name }) => name);
    // A schedule's message has no publish.
    const begins = names.includes("schedule") ? "schedule" : "publish";
    expect(names).toEqual(expect.arrayContaining([begins, "attempt"]));
  });
});
