/**
 * One service as a process of its own. Health starts first, so that a supervisor sees what the process waits for;
 * then the services, in order; then requests are handled. All stop in reverse.
 */
import { fault } from "@posthaste/domain";
import { createAnswers, createEdge, type RequestHandler } from "@posthaste/http";
import { type Service } from "@posthaste/ports";
import { type ProcessParts } from "./process-parts.ts";
import { runServices } from "./run.ts";

export type ServiceProcess = {
  readonly adapters: readonly { close(): Promise<void> }[];
  readonly services: readonly Service[];
  /** Answers over HTTP beside the health endpoints; a worker has none. */
  readonly handler?: RequestHandler;
};

export async function runServiceProcess(
  parts: ProcessParts,
  { adapters: drivers, handler, services }: ServiceProcess,
): Promise<void> {
  const { name, clock, drainMs, log, random, readiness, reporting } = parts;
  const answers = createAnswers({ log, clock, random });
  let isOpen = false;
  const edge = createEdge({
    ...parts,
    limits: { connectionsMax: parts.sockets.connections },
    answers,
    handler: (req, res) => {
      if (!isOpen) answers.fault(res, { ...starting, retryAfterSeconds: 1 });
      else if (handler) return handler(req, res);
      else answers.fault(res, fault("not_found", `the ${name} answers no requests`));
      return undefined;
    },
  });
  const adapters: Service = {
    name: "adapters",
    start: async () => undefined,
    stop: async () => {
      for (const driver of drivers) await driver.close();
    },
  };
  const handling: Service = {
    name: "requests",
    start: async () => void (isOpen = true),
    stop: async () => undefined,
  };
  await runServices([adapters, edge, ...reporting, ...services, handling], {
    log,
    clock,
    drainMs,
    readiness,
  });
  log.info("process.ready", { service: name, port: edge.port });
}

const starting = fault("overloaded", "this process is starting");
