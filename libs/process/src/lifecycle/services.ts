/** Starts and stops services: starts in the order given, stops in reverse, so that each finds the services that it needs running. */
import { type Log, type Readiness, type Service } from "@posthaste/ports";

export type Running = {
  /** Stops all in reverse order, once; later calls wait for the same end. Resolves to false if at least one failed to stop. */
  stop(): Promise<boolean>;
};

export type StartOptions = {
  readonly log: Log;
  readonly readiness?: Readiness;
  /** Aborted while services start: a start in progress is finished or given up, and no further one is begun. */
  readonly stopping?: AbortSignal;
};

/** Rejects with the failure, after stopping the services that had started. */
export async function startServices(
  services: readonly Service[],
  options: StartOptions,
): Promise<Running> {
  const { log, readiness, stopping } = options;
  for (const { name } of services) readiness?.set(name, "starting");
  const started: Service[] = [];
  for (const service of services) {
    const giveUp = (): void => service.giveUp?.();
    if (stopping?.aborted) break;
    stopping?.addEventListener("abort", giveUp, { once: true });
    try {
      await service.start();
    } catch (cause) {
      if (stopping?.aborted) break;
      await stopAll(started, log);
      throw new Error(`cannot start ${service.name}`, { cause });
    } finally {
      stopping?.removeEventListener("abort", giveUp);
    }
    started.push(service);
    readiness?.set(service.name, undefined);
    log.debug("service.started", { name: service.name });
  }
  return { stop: once(() => stopAll(started, log)) };
}

async function stopAll(started: readonly Service[], log: Log): Promise<boolean> {
  let clean = true;
  for (const service of started.toReversed()) {
    try {
      await service.stop();
      log.debug("service.stopped", { name: service.name });
    } catch (error) {
      clean = false;
      log.error("service.stop.failed", { name: service.name, error });
    }
  }
  return clean;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
