/** The parts that every process of the distributed shape has. */
import { connectionsMax, type Origins } from "@posthaste/http";
import {
  type Clock,
  type Log,
  type Random,
  type Readiness,
  type Reporter,
  type Service,
  type Telemetry,
} from "@posthaste/ports";
import { steadyClock, systemClock } from "../clock.ts";
import { type ConfigOf } from "../config/services.ts";
import { createLog } from "../log/log.ts";
import { systemRandom } from "../random.ts";
import { createTelemetry } from "../telemetry/telemetry.ts";
import { type CallsConfig, callsMaxOf, fitSockets, type Sockets } from "./open-files.ts";
import { createReadiness } from "./readiness.ts";

export type ProcessParts = {
  readonly name: Reporter;
  readonly host: string;
  readonly port: number;
  readonly drainMs: number;
  /** How many callers' connections and calls the system allows this process. */
  readonly sockets: Sockets;
  readonly origins: Origins;
  /** A clock that no step of the host's clock moves; due times are compared with the store's time, which is measured against this clock. */
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly readiness: Readiness;
  readonly telemetry: Telemetry;
  readonly reporting: readonly Service[];
  readonly fatal: (error: Error) => void;
};

type ProcessConfig = Pick<ConfigOf<"management">, "drainSeconds" | "port" | "profile"> &
  Parameters<typeof createTelemetry>[1] &
  CallsConfig & { readonly devOrigins?: Origins };

export function processParts(name: Reporter, config: ProcessConfig): ProcessParts {
  const hostClock = systemClock();
  const clock = steadyClock(hostClock);
  const isDev = config.profile === "dev";
  const written = createLog({
    service: name,
    level: config.logLevel,
    format: isDev ? "human" : "json",
    clock: hostClock,
  });
  const random = systemRandom();
  const { telemetry, log, reporting } = createTelemetry(name, config, {
    ...{ clock, random },
    log: written,
  });
  return {
    name,
    host: config.host,
    port: config.port,
    drainMs: config.drainSeconds * 1_000,
    sockets: fitSockets({ connections: connectionsMax, calls: callsMaxOf(config) }, log),
    origins: isDev ? (config.devOrigins ?? "none") : "none",
    clock,
    random,
    log,
    readiness: createReadiness(),
    telemetry,
    reporting,
    fatal: (error) => {
      log.error("process.failed", { error });
      process.exit(1);
    },
  };
}
