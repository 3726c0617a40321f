import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { createTracing, type Tracing } from "./tracing.ts";

const clock = virtualClock();
const log = recordingLog();
let collector: Server;
let port: number;
let tracing: Tracing;

beforeEach(async () => {
  await listen(0);
  port = (collector.address() as AddressInfo).port;
  collector.close();
  const endpoint = `http://127.0.0.1:${port}`;
  const random = seededRandom(1);
  tracing = createTracing({ service: "gateway", endpoint, ratio: 1, clock, log, random });
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

/** Undefined: it is not traced. */
const begun = () => tracing.tracer.start("publish", { kind: "server" });

/** Polls until the log has a line of that name. */
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
