import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { type SpanOptions } from "@posthaste/ports";
import { tracedLog } from "../log/traced-log.ts";
import { createTracing, type Tracing } from "./tracing.ts";

const clock = virtualClock();
let log: ReturnType<typeof recordingLog>;
let collector: Server;
let port: number;
let tracing: Tracing;

beforeEach(async () => {
  log = recordingLog();
  await listen(0);
  port = (collector.address() as AddressInfo).port;
  collector.close();
  const url = `http://127.0.0.1:${port}/v1/traces`;
  const random = seededRandom(1);
  tracing = createTracing({
    service: "gateway",
    instance: "1",
    url,
    protocol: "http/json",
    ratio: 1,
    clock,
    log,
    random,
  });
  await tracing.sending.start();
});
afterEach(async () => {
  await tracing.sending.stop();
  collector.closeAllConnections();
  collector.close();
});

async function listen(at: number): Promise<void> {
  collector = createServer((_, response) => response.end("{}")).listen(at, "127.0.0.1");
  await once(collector, "listening");
}

const begun = () => tracing.tracer.start("publish", { kind: "server" });

async function told(name: string): Promise<void> {
  while (!log.lines.some((line) => line.event === name))
    await new Promise((resolve) => setTimeout(resolve, 20));
}

it("while a collector is away one trace in ten seconds is begun, and all are when it is back", async () => {
  begun()?.end();
  await told("traces.refused");

  begun()?.end();
  expect(begun()).toBeUndefined();
  await listen(port);
  await clock.advance(10_000);
  begun()?.end();
  expect(begun()).toBeUndefined();
  await told("traces.taken_again");

  expect(begun()).toBeDefined();
  expect(begun()).toBeDefined();
});

it("each process finds the same place for the first failure of a message, and a span that begins there", async () => {
  const other = createTracing({
    ...{
      service: "deliverer",
      instance: "2",
      protocol: "http/json",
      url: `http://127.0.0.1:${port}`,
      ratio: 0,
    },
    ...{ clock, log, random: seededRandom(2) },
  });
  expect(other.tracer.placeOfFirstAttempt("msg_1")).toBeUndefined();
  await other.sending.start();

  const place = tracing.tracer.placeOfFirstAttempt("msg_1");
  const span = other.tracer.start("attempt", { kind: "client", ...(place && { place }) });
  await other.sending.stop();

  expect(place).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  expect(span?.traceParent).toBe(place);
  expect(tracing.tracer.placeOfFirstAttempt("msg_2")).not.toBe(place);
});

it("while a collector is away one failure in ten seconds begins a trace", async () => {
  begun()?.end();
  await told("traces.refused");

  const places = [1, 2].map((n) => tracing.tracer.placeOfFirstAttempt(`msg_${n}`));

  expect(places).toEqual([expect.any(String), undefined]);
});

it("a span may be part of one trace and point to another; of a caller that samples none, it is part of none", () => {
  const trace = (letter: string, isSampled: boolean): string =>
    `00-${letter.repeat(32)}-${letter.repeat(16)}-0${isSampled ? 1 : 0}`;
  const traceIdAt = (cause: NonNullable<SpanOptions["cause"]>): string | undefined =>
    tracing.tracer.start("publish", { kind: "server", cause })?.traceParent.split("-")[1];

  expect(traceIdAt({ parent: trace("a", true), link: trace("b", true) })).toBe("a".repeat(32));
  expect(traceIdAt({ parent: trace("a", false), link: trace("b", true) })).not.toBe("a".repeat(32));
  expect(traceIdAt({ parent: trace("a", false), link: trace("b", false) })).toBeUndefined();
  expect(traceIdAt({ link: trace("b", false) })).toBeUndefined();
});

it("a line of the log inside a trace names it, unless the line names its own", () => {
  const lines = recordingLog();
  const traced = tracedLog(lines, tracing.tracer);

  tracing.tracer.within(`00-${"a".repeat(32)}-${"b".repeat(16)}-01`, () => {
    traced.info("inside");
    traced.warn("of another", { traceId: "c" });
  });
  traced.info("outside");

  expect(lines.lines.map(({ fields }) => fields?.["traceId"])).toEqual([
    "a".repeat(32),
    "c",
    undefined,
  ]);
});
