/** The metrics and traces of a process. A service without this port reports nothing. */
import { type Metrics, noMetrics } from "./metrics/metrics.ts";
import { noTracer, type Tracer } from "./tracer.ts";

export type Telemetry = { readonly metrics: Metrics; readonly tracer: Tracer };

export const noTelemetry: Telemetry = { metrics: noMetrics, tracer: noTracer };
