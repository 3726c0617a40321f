/** Metrics as configured: what nobody is to read costs nothing. */
import { type Clock, type Log, noTelemetry, type Reporter, type Telemetry } from "@posthaste/ports";
import { type ConfigOf } from "../config/services.ts";
import { type Service } from "../lifecycle/services.ts";
import { createCounted } from "./counted.ts";
import { createMetricsEndpoint } from "./metrics-endpoint.ts";
import { watchProcess } from "./process-readings.ts";

type TelemetryConfig = Pick<ConfigOf<"management">, "host" | "metricsPort">;
type World = { readonly clock: Clock; readonly log: Log };

export type Reporting = {
  readonly telemetry: Telemetry;
  /** To be started before what reports, and stopped after it. */
  readonly reporting: readonly Service[];
};

export function createTelemetry(
  service: Reporter,
  { host, metricsPort: port }: TelemetryConfig,
  { clock, log }: World,
): Reporting {
  if (port === undefined) return { telemetry: noTelemetry, reporting: [] };
  const counted = createCounted(service, clock);
  const watching = watchProcess(counted);
  return {
    telemetry: { ...noTelemetry, metrics: counted },
    reporting: [createMetricsEndpoint({ host, port, counted, log, watching })],
  };
}
