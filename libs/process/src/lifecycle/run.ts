/** Runs a process from its start to its exit code: 0 after a clean drain, 1 otherwise, each with one line that says why. */
import {
  type Clock,
  type Log,
  type LogFields,
  type Readiness,
  type Service,
} from "@posthaste/ports";
import { giveMemoryBackWhenIdle } from "./idle-memory.ts";
import { createReadiness } from "./readiness.ts";
import { type Running, startServices } from "./services.ts";

export type RunOptions = {
  readonly log: Log;
  readonly clock: Clock;
  /** How long services may finish running work; after `graceMs` more the process ends without them. */
  readonly drainMs: number;
  readonly readiness?: Readiness;
  readonly signals?: readonly NodeJS.Signals[];
};

const graceMs = 5_000;

/**
 * Resolves when all services have started, and never when they are stopped before that. From then on signals and fatal errors end
 * the process.
 */
export async function runServices(
  services: readonly Service[],
  options: RunOptions,
): Promise<void> {
  const { log, signals = ["SIGTERM", "SIGINT"] } = options;
  const readiness = options.readiness ?? createReadiness();
  exitOnFatalErrors(log);
  const stop = new AbortController();
  const starting = startServices(services, { log, readiness, stopping: stop.signal });
  stopOnSignals(starting, signals, { ...options, readiness, stop });
  try {
    await starting;
    giveMemoryBackWhenIdle();
    if (stop.signal.aborted) await never;
  } catch (error) {
    log.error("process.start.failed", whyOf(error));
    process.exit(1);
  }
}

function exitOnFatalErrors(log: Log): void {
  const die = (event: string) => (error: unknown) => {
    log.error(event, { error: Error.isError(error) ? error : `thrown: ${typeof error}` });
    process.exit(1);
  };
  process.on("uncaughtException", die("process.uncaught"));
  process.on("unhandledRejection", die("process.unhandled"));
}

type Stopping = { readonly readiness: Readiness; readonly stop: AbortController };

function stopOnSignals(
  starting: Promise<Running>,
  signals: readonly NodeJS.Signals[],
  { log, clock, drainMs, readiness, stop }: RunOptions & Stopping,
): void {
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) {
      log.warn("process.killed", { signal, reason: "second signal" });
      process.exit(1);
    }
    stop.abort();
    readiness.set("process", "stopping");
    log.info("process.stopping", { signal, drainMs });
    clock.after(drainMs + graceMs, () => {
      log.error("process.killed", { reason: "drain took too long", drainMs });
      process.exit(1);
    });
    void drain(starting, log);
  };
  for (const signal of signals) process.on(signal, onSignal);
}

async function drain(starting: Promise<Running>, log: Log): Promise<void> {
  // A failed start has its own line and its own exit.
  const running = await starting.catch(() => undefined);
  if (!running) return;
  const clean = await running.stop();
  log.info("process.stopped", { status: clean ? 0 : 1 });
  process.exit(clean ? 0 : 1);
}

/** The drain continues, and ends the process. */
const never = new Promise<never>(() => undefined);

/**
 * Returns which part could not start, and why, for an operator. An error that no part has thrown is logged with its
 * stack, which helps to fix the code.
 */
function whyOf(error: unknown): LogFields {
  if (!Error.isError(error) || !Error.isError(error.cause)) return { error };
  const { cause } = error;
  return isOfTheSystem(cause) || isOfTheSystem(cause.cause)
    ? { reason: error.message, why: cause.message }
    : { error, why: cause.message };
}

/** Reports whether the system caused the error, such as a taken port or a server that is away. */
const isOfTheSystem = (error: unknown): boolean => Error.isError(error) && "syscall" in error;
