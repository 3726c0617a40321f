import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { createTelemetry } from "./telemetry.ts";

let collector: Server;
let received: { path: string | undefined; type: string | undefined; text: string }[];

beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { "content-type": type } = request.headers;
      received.push({ path: request.url, type, text: Buffer.concat(chunks).toString("latin1") });
      response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
});
afterAll(() => {
  collector.closeAllConnections();
  collector.close();
});

const opened = (given: Partial<Parameters<typeof createTelemetry>[1]>) => {
  received = [];
  const log = recordingLog();
  const reporting = createTelemetry(
    "gateway",
    {
      ...{ host: "127.0.0.1", logLevel: "info", metricsPort: undefined, traceRatio: 1 },
      otelMetricExportInterval: 60_000,
      ...given,
    },
    { clock: virtualClock(), log, random: seededRandom(1) },
  );
  return { ...reporting, written: log };
};
const endpoint = () => `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;

describe("the signals that a process sends", () => {
  it.each([
    ["http/json", "application/json"],
    ["http/protobuf", "application/x-protobuf"],
  ] as const)(
    "is %s, as it was asked for, and all of it is sent before the process ends",
    async (protocol, type) => {
      const { log, reporting, telemetry } = opened({
        otelExporterOtlpEndpoint: endpoint(),
        otelExporterOtlpProtocol: protocol,
      });
      log.info("before.start", { id: "early" });
      for (const service of reporting) await service.start();
      log.debug("not.sent");
      log.info("after.start", { body: "canary" });
      telemetry.metrics.count("posthaste_messages_accepted_total", "new");
      telemetry.tracer.start("publish", { kind: "server" })?.end();

      for (const service of reporting.toReversed()) await service.stop();

      expect(new Set(received.map((request) => request.type))).toEqual(new Set([type]));
      const textAt = (path: string) =>
        received.flatMap((request) => (request.path === path ? request.text : [])).join();
      expect(textAt("/v1/metrics")).toContain("posthaste_messages_accepted_total");
      expect(textAt("/v1/traces")).toContain("publish");
      expect(textAt("/v1/logs")).toMatch(/before\.start[^]*after\.start/);
      expect(textAt("/v1/logs")).not.toMatch(/not\.sent|canary/);
    },
  );

  it("are none, and the log is unchanged, if no variable is set", () => {
    const { log, reporting, telemetry, written } = opened({});

    expect(reporting).toEqual([]);
    expect(telemetry.tracer.isOn).toBe(false);
    expect(log).toBe(written);
  });
});
