/** Metrics and traces as configured; where neither is configured they cost nothing. */
import {
  type Clock,
  type Log,
  type Metrics,
  noMetrics,
  noTracer,
  type Random,
  type Reporter,
  type Service,
  type Telemetry,
  type Tracer,
} from "@posthaste/ports";
import { type ConfigOf } from "../config/services.ts";
import { createCounted } from "./counted.ts";
import { createMetricsEndpoint } from "./metrics-endpoint.ts";
import { watchProcess } from "./process-readings.ts";
import { createTracing } from "./tracing.ts";

type TelemetryConfig = Pick<
  ConfigOf<"management">,
  "host" | "metricsPort" | "otlpEndpoint" | "traceRatio"
>;
type World = { readonly clock: Clock; readonly log: Log; readonly random: Random };

export type Reporting = {
  readonly telemetry: Telemetry;
  /** Services to start before the ones that report, and to stop after them. */
  readonly reporting: readonly Service[];
};

export function createTelemetry(
  service: Reporter,
  config: TelemetryConfig,
  world: World,
): Reporting {
  const { metrics, endpoint } = metricsOf(service, config, world);
  const { tracer, sending } = tracesOf(service, config, world);
  return { telemetry: { metrics, tracer }, reporting: [...endpoint, ...sending] };
}

function metricsOf(
  service: Reporter,
  { host, metricsPort: port }: TelemetryConfig,
  { clock, log }: World,
): { readonly metrics: Metrics; readonly endpoint: readonly Service[] } {
  if (port === undefined) return { metrics: noMetrics, endpoint: [] };
  const counted = createCounted(service, clock);
  const watching = watchProcess(counted, clock);
  return {
    metrics: counted,
    endpoint: [createMetricsEndpoint({ host, port, counted, log, watching })],
  };
}

function tracesOf(
  service: Reporter,
  { otlpEndpoint: endpoint, traceRatio: ratio }: TelemetryConfig,
  world: World,
): { readonly tracer: Tracer; readonly sending: readonly Service[] } {
  if (endpoint === undefined) return { tracer: noTracer, sending: [] };
  const { tracer, sending } = createTracing({ service, endpoint, ratio, ...world });
  return { tracer, sending: [sending] };
}
