/**
 * The journeys for tests of traces: of a traced message one retry, then delivered, with a callback at the end of each attempt; of an
 * untraced one two retries.
 */
import { expect } from "@jest/globals";
import { type Client } from "./client.ts";
import { type CollectedSpan, type Collector } from "./collector.ts";
import { type Destination, failing } from "./destination.ts";

export type Incoming = { readonly traceId: string; readonly spanId: string };

/** A value in everything that a caller may send, which no span may hold. */
export const canary = "canary-7f3a";

export const incoming: Incoming = {
  traceId: "0af7651916cd43dd8448eb211c80319c",
  spanId: "b7ad6b7169203331",
};

export const incomingElse: Incoming = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
};

export type JourneyOptions = {
  readonly path?: string;
  readonly from?: Incoming;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Publishes inside a trace of the caller's. Returns the message's id. */
export async function publishJourney(
  client: Client,
  destination: Destination,
  { path = "/journey", from = incoming, headers = {} }: JourneyOptions = {},
): Promise<string> {
  destination.answers(path, failing(1));
  const id = await client.published(
    `${destination.url(path)}?token=${canary}-query`,
    {
      traceparent: `00-${from.traceId}-${from.spanId}-01`,
      "content-type": `text/x-${canary}-type`,
      "service-retries": "1",
      "service-retry-delay": "100",
      "service-callback": `${destination.url(`${path}-callback`)}?${canary}-callback`,
      "service-forward-x-secret": `${canary}-header`,
      "service-label": `${canary}-label`,
      ...headers,
    },
    `${canary}-body`,
  );
  await destination.arrivals(path, 2, 60_000);
  await destination.arrivals(`${path}-callback`, 2, 60_000);
  return id;
}

export type Journey = {
  readonly publish: CollectedSpan;
  readonly attempts: readonly CollectedSpan[];
  readonly callbacks: readonly CollectedSpan[];
  readonly callbackAttempts: readonly CollectedSpan[];
  readonly all: readonly CollectedSpan[];
};

/** Returns the message, its two attempts, and two callbacks with one attempt each. */
export async function collectedJourney(
  collector: Collector,
  id: string,
  from: Incoming = incoming,
): Promise<Journey> {
  const mine = (spans: readonly CollectedSpan[]) =>
    spans.filter(({ traceId }) => traceId === from.traceId);
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

/** Publishes untraced, and returns the spans of the message, first attempt first: it fails twice and is delivered then. */
export async function untracedJourney(
  { client, destination, collector }: UntracedJourney,
  path: string,
): Promise<readonly CollectedSpan[]> {
  destination.answers(path, failing(2));
  const id = await client.published(destination.url(path), {
    "service-retries": "2",
    "service-retry-delay": "100",
  });
  await destination.arrivals(path, 3, 60_000);
  const ofMessage = ({ name, attributes }: CollectedSpan) =>
    name === "attempt" && attributes["posthaste.message.id"] === id;
  const spans = await collector.until((found) => found.filter(ofMessage).length >= 3);
  return spans
    .filter(({ attributes }) => Object.values(attributes).includes(id))
    .toSorted(
      (a, b) =>
        Number(a.attributes["posthaste.retried"]) - Number(b.attributes["posthaste.retried"]),
    );
}

type UntracedJourney = {
  readonly client: Client;
  readonly destination: Destination;
  readonly collector: Collector;
};

/** The spans of an untraced message that fails twice: its attempts and nothing else, the first one at the top. */
export function expectAttemptsOnly(spans: readonly CollectedSpan[]): void {
  const [first, ...retries] = spans;

  expect(spans.map(({ name, attributes }) => [name, attributes["posthaste.outcome"]])).toEqual([
    ["attempt", "refused"],
    ["attempt", "refused"],
    ["attempt", "delivered"],
  ]);
  expect(first).toMatchObject({ parentSpanId: undefined, status: 2 });
  for (const { parentSpanId, traceId } of retries)
    expect([traceId, parentSpanId]).toEqual([first?.traceId, first?.spanId]);
}
