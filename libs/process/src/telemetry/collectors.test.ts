import { describe, expect, it } from "@jest/globals";
import { type CollectorsConfig, collectorsOf } from "./collectors.ts";

const [own, standard] = ["http://own:4318", "http://standard:4318/base/"];
const standardAll = {
  traces: "http://standard:4318/base/v1/traces",
  metrics: "http://standard:4318/base/v1/metrics",
  logs: "http://standard:4318/base/v1/logs",
};

describe("the signals that are sent", () => {
  it.each<[string, CollectorsConfig, ReturnType<typeof collectorsOf>]>([
    ["none, where no variable asks for one", {}, {}],
    ["traces, by Posthaste's own endpoint", { otlpEndpoint: own }, { traces: `${own}/v1/traces` }],
    ["all, by the standard's endpoint", { otelExporterOtlpEndpoint: standard }, standardAll],
    [
      "traces to the one and the others to the other, where both are set",
      { otlpEndpoint: own, otelExporterOtlpEndpoint: standard },
      { ...standardAll, traces: `${own}/v1/traces` },
    ],
    [
      "metrics, to Posthaste's own endpoint, where they are asked for by name",
      { otlpEndpoint: own, otelMetricsExporter: "otlp" },
      { traces: `${own}/v1/traces`, metrics: `${own}/v1/metrics` },
    ],
    [
      "logs, to the endpoint that is theirs, as it is",
      { otelExporterOtlpLogsEndpoint: "https://logs/in" },
      { logs: "https://logs/in" },
    ],
    [
      "metrics, to this host, where they are asked for and no endpoint is named",
      { otelMetricsExporter: "otlp" },
      { metrics: "http://localhost:4318/v1/metrics" },
    ],
    [
      "none that is refused by name",
      { otelExporterOtlpEndpoint: standard, otelTracesExporter: "none", otelLogsExporter: "none" },
      { metrics: standardAll.metrics },
    ],
    [
      "none, where all of it is disabled",
      { otlpEndpoint: own, otelExporterOtlpEndpoint: standard, otelSdkDisabled: "true" },
      {},
    ],
  ])("are %s", (_, given, expected) => {
    expect(collectorsOf(given)).toEqual(expected);
  });
});
