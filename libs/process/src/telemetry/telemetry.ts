/** Metrics, traces and copies of the log as configured; those that are not configured cost nothing. */
import {
  type Clock,
  type Log,
  noMetrics,
  noTracer,
  type Random,
  type Reporter,
  type Service,
  type Telemetry,
} from "@posthaste/ports";
import { type ConfigOf } from "../config/services.ts";
import { copiedLog } from "../log/copied-log.ts";
import { tracedLog } from "../log/traced-log.ts";
import { type OtlpOptions } from "./bounds.ts";
import { collectorsOf, type CollectorsConfig } from "./collectors.ts";
import { createCounted } from "./counted.ts";
import { createMetricsEndpoint } from "./metrics-endpoint.ts";
import { watchProcess } from "./process-readings.ts";
import { sendLogs } from "./sending-logs.ts";
import { sendMetrics } from "./sending-metrics.ts";
import { createTracing } from "./tracing.ts";

type TelemetryConfig = CollectorsConfig &
  Partial<Pick<ConfigOf<"management">, "otelExporterOtlpProtocol">> &
  Pick<
    ConfigOf<"management">,
    "host" | "logLevel" | "metricsPort" | "metricsToken" | "otelMetricExportInterval" | "traceRatio"
  >;
type World = { readonly clock: Clock; readonly log: Log; readonly random: Random };

export type Reporting = {
  readonly telemetry: Telemetry;
  /** The log, whose lines name the trace in which they are written. */
  readonly log: Log;
  /** Services to start before the ones that report, and to stop after them. */
  readonly reporting: readonly Service[];
};

const instanceLength = 22;

export function createTelemetry(
  service: Reporter,
  config: TelemetryConfig,
  world: World,
): Reporting {
  const collectors = collectorsOf(config);
  const { otelExporterOtlpProtocol: protocol = "http/json" } = config;
  const instance = world.random.text(instanceLength);
  const at = (url: string): OtlpOptions => ({ service, instance, url, protocol, ...world });
  const { metrics, reading } = metricsOf(service, config, world, collectors.metrics, at);
  const tracing =
    collectors.traces === undefined
      ? undefined
      : createTracing({ ...at(collectors.traces), ratio: config.traceRatio, random: world.random });
  const tracer = tracing?.tracer ?? noTracer;
  const logs = collectors.logs === undefined ? undefined : sendLogs(at(collectors.logs));
  const written = logs
    ? copiedLog(world.log, { lowest: config.logLevel, clock: world.clock, copy: logs.copy })
    : world.log;
  const sending = [tracing?.sending, logs?.sending].filter((one) => one !== undefined);
  return {
    telemetry: { metrics, tracer },
    log: tracedLog(written, tracer),
    reporting: [...reading, ...sending],
  };
}

function metricsOf(
  service: Reporter,
  {
    host,
    metricsPort: port,
    metricsToken: token,
    otelMetricExportInterval: everyMs,
  }: TelemetryConfig,
  { clock, log }: World,
  url: string | undefined,
  at: (url: string) => OtlpOptions,
): Pick<Telemetry, "metrics"> & { readonly reading: readonly Service[] } {
  if (port === undefined && url === undefined) return { metrics: noMetrics, reading: [] };
  const counted = createCounted(service, clock);
  const watching: Service = {
    name: "process.readings",
    start: async () => undefined,
    stop: async () => stopWatching(),
  };
  const stopWatching = watchProcess(counted, clock);
  return {
    metrics: counted,
    reading: [
      watching,
      ...(port === undefined ? [] : [createMetricsEndpoint({ host, port, token, counted, log })]),
      ...(url === undefined ? [] : [sendMetrics({ counted, everyMs, collector: at(url) })]),
    ],
  };
}
