/** What a process tells about itself. Absent from the ports of a service, nothing is told. */
import { type Metrics, noMetrics } from "./metrics/metrics.ts";
import { noTracer, type Tracer } from "./tracer.ts";

export type Telemetry = { readonly metrics: Metrics; readonly tracer: Tracer };

export const noTelemetry: Telemetry = { metrics: noMetrics, tracer: noTracer };
