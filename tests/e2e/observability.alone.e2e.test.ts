import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { freePort, type RunningPrometheus } from "@posthaste/local";
import { metricCatalogue } from "@posthaste/ports";
import { type AloneServer, startAlone } from "./alone.ts";
import { eventually } from "./client.ts";
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

describeWithPrometheus("Prometheus, which reads a standalone", () => {
  let server: AloneServer;
  let destination: Destination;
  let prometheus: RunningPrometheus;

  beforeAll(async () => {
    destination = await Destination.start();
    const port = await freePort();
    server = await startAlone({ env: { POSTHASTE_METRICS_PORT: String(port) } });
    prometheus = await startScraping(new Map([["standalone", port]]));
  }, fetchMsMax);
  afterAll(async () => {
    await prometheus.stop();
    await server.stop();
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

  it("has nothing to tell of while all is well", async () => {
    await eventually(
      () => prometheus.ask("posthaste:waiting:max"),
      (found) => found.length === 1,
      60_000,
    );

    expect(await firing(prometheus)).toEqual([]);
  });
});
