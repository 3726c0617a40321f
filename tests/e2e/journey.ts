/** The journey that tests of traces look at: one retry, then delivered, with a callback after each attempt's end. */
import { type Client } from "./client.ts";
import { type CollectedSpan, type Collector } from "./collector.ts";
import { type Destination, failing } from "./destination.ts";

/** Whatever a caller may send that is its own business alone. */
export const canary = "canary-7f3a";

export const incoming = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
};

/** Publishes inside a trace of the caller's; answers the message's id. */
export async function publishJourney(client: Client, destination: Destination): Promise<string> {
  destination.answers("/journey", failing(1));
  const id = await client.published(
    `${destination.url("/journey")}?token=${canary}-query`,
    {
      traceparent: `00-${incoming.traceId}-${incoming.spanId}-01`,
      "content-type": `text/x-${canary}-type`,
      "service-retries": "1",
      "service-retry-delay": "100",
      "service-callback": `${destination.url("/journey-callback")}?${canary}-callback`,
      "service-forward-x-secret": `${canary}-header`,
      "service-label": `${canary}-label`,
    },
    `${canary}-body`,
  );
  await destination.arrivals("/journey", 2, 60_000);
  await destination.arrivals("/journey-callback", 2, 60_000);
  return id;
}

export type Journey = {
  readonly publish: CollectedSpan;
  /** Of the message, in order. */
  readonly attempts: readonly CollectedSpan[];
  readonly callbacks: readonly CollectedSpan[];
  /** One of each callback. */
  readonly callbackAttempts: readonly CollectedSpan[];
  /** All of the trace. */
  readonly all: readonly CollectedSpan[];
};

/** The message, its two attempts, and two callbacks with one attempt each. */
export async function collectedJourney(collector: Collector, id: string): Promise<Journey> {
  const mine = (spans: readonly CollectedSpan[]) =>
    spans.filter(({ traceId }) => traceId === incoming.traceId);
  const named = (spans: readonly CollectedSpan[], name: string) =>
    mine(spans).filter((span) => span.name === name);
  const spans = await collector.until(
    (found) =>
      named(found, "publish").length === 1 &&
      named(found, "attempt").length >= 4 &&
      named(found, "callback").length >= 2,
  );
  const [publish] = named(spans, "publish");
  if (!publish) throw new Error("no span of the publish");
  const attempts = named(spans, "attempt");
  const ofMessage = ({ attributes }: CollectedSpan) => attributes["posthaste.message.id"] === id;
  const retried = ({ attributes }: CollectedSpan) => Number(attributes["posthaste.retried"]);
  return {
    publish,
    attempts: attempts.filter(ofMessage).toSorted((a, b) => retried(a) - retried(b)),
    callbacks: named(spans, "callback"),
    callbackAttempts: attempts.filter((span) => !ofMessage(span)),
    all: mine(spans),
  };
}
