/** What every process of the distributed shape has, whatever its service. */
import { type Clock, type Log, type Random, type Reporter, type Telemetry } from "@posthaste/ports";
import { systemClock } from "../clock.ts";
import { type ConfigOf } from "../config/services.ts";
import { createLog } from "../log/log.ts";
import { systemRandom } from "../random.ts";
import { createTelemetry } from "../telemetry/telemetry.ts";
import { createReadiness, type Readiness } from "./readiness.ts";
import { type Service } from "./services.ts";

export type ProcessParts = {
  /** The service, as in logs. */
  readonly name: Reporter;
  readonly host: string;
  readonly port: number;
  readonly drainMs: number;
  /** The dev profile's permissive CORS. */
  readonly anyOrigin: boolean;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly readiness: Readiness;
  readonly telemetry: Telemetry;
  /** What lets others read and receive it. */
  readonly reporting: readonly Service[];
  /** This process cannot go on: it says why, and ends. */
  readonly fatal: (error: Error) => void;
};

type ProcessConfig = Pick<
  ConfigOf<"management">,
  | "drainSeconds"
  | "host"
  | "logLevel"
  | "metricsPort"
  | "otlpEndpoint"
  | "port"
  | "profile"
  | "traceRatio"
>;

export function processParts(name: Reporter, config: ProcessConfig): ProcessParts {
  const clock = systemClock();
  const isDev = config.profile === "dev";
  const log = createLog({
    service: name,
    level: config.logLevel,
    format: isDev ? "human" : "json",
    clock,
  });
  const random = systemRandom();
  return {
    name,
    host: config.host,
    port: config.port,
    drainMs: config.drainSeconds * 1_000,
    anyOrigin: isDev,
    clock,
    random,
    log,
    readiness: createReadiness(),
    ...createTelemetry(name, config, { clock, log, random }),
    fatal: (error) => {
      log.error("process.failed", { error });
      process.exit(1);
    },
  };
}
