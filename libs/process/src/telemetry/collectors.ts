/** Finds where each signal is sent, from the variables. */
import { type ConfigOf } from "../config/services.ts";

export type CollectorsConfig = Partial<
  Pick<
    ConfigOf<"management">,
    | "otelExporterOtlpEndpoint"
    | "otelExporterOtlpLogsEndpoint"
    | "otelExporterOtlpMetricsEndpoint"
    | "otelExporterOtlpTracesEndpoint"
    | "otelLogsExporter"
    | "otelMetricsExporter"
    | "otelSdkDisabled"
    | "otelTracesExporter"
    | "otlpEndpoint"
  >
>;
type Collectors = { readonly [Signal in "traces" | "metrics" | "logs"]?: string | undefined };

/** The standard's endpoint, if none is named. */
const standardEndpoint = "http://localhost:4318";

/**
 * Returns the whole address of each signal that is sent. `POSTHASTE_OTLP_ENDPOINT` configures traces only, and is also
 * the address of metrics and logs that are configured by name.
 */
export function collectorsOf(config: CollectorsConfig): Collectors {
  if (config.otelSdkDisabled === "true") return {};
  const { otlpEndpoint: own, otelExporterOtlpEndpoint: standard } = config;
  const sent = (
    signal: string,
    exporter: "otlp" | "none" | undefined,
    whole: string | undefined,
  ) => {
    if (exporter === "none") return undefined;
    if (whole !== undefined) return whole;
    const base = standard ?? (exporter === "otlp" ? (own ?? standardEndpoint) : undefined);
    return base === undefined ? undefined : below(base, signal);
  };
  const { otelTracesExporter: ofTraces } = config;
  return {
    traces:
      own !== undefined && ofTraces !== "none"
        ? below(own, "traces")
        : sent("traces", ofTraces, config.otelExporterOtlpTracesEndpoint),
    metrics: sent("metrics", config.otelMetricsExporter, config.otelExporterOtlpMetricsEndpoint),
    logs: sent("logs", config.otelLogsExporter, config.otelExporterOtlpLogsEndpoint),
  };
}

const below = (endpoint: string, signal: string): string =>
  new URL(`v1/${signal}`, endpoint.endsWith("/") ? endpoint : `${endpoint}/`).href;
