/** The operations of a gateway for runs, as endpoints and clients reach them. */
import {
  type Fault,
  type PublishCommand,
  isActive,
  isFailed,
  type Run,
  type RunId,
  type TenantId,
} from "@posthaste/domain";
import {
  endRun,
  type Ended,
  finishRun,
  type Notified,
  notify,
  notifyRun,
  placeWait,
  type Published,
  publishForRuns,
  restartRun,
  resumeRun,
  type RunPorts,
  type WaitCommand,
} from "@posthaste/engine";
import { type RunAddress } from "@posthaste/ports";

export type Again = "restart" | "resume";

export type RunGateway = {
  /** Publishes starts, or steps of one run, a call, or an invocation. */
  publish(commands: readonly PublishCommand[]): Promise<readonly Published[] | Fault>;
  wait(command: WaitCommand): Promise<Fault | undefined>;
  notify(tenant: TenantId, event: string, body: Uint8Array): Promise<readonly Notified[]>;
  notifyRun(
    address: RunAddress,
    event: string,
    body: Uint8Array,
  ): Promise<readonly Notified[] | "unknown" | "full">;
  finish(address: RunAddress, result: Uint8Array): Promise<Ended>;
  cancel(address: RunAddress): Promise<Ended>;
  /** Runs it again from its beginning, or from where it failed. Returns undefined when it has not failed. */
  again(how: Again, address: RunAddress, id: RunId): Promise<Run | Fault | "active" | undefined>;
};

/** `ask` runs a task in the process of the gateway. */
export const runGateway = (
  ports: RunPorts,
  ask: <T>(task: () => Promise<T>) => Promise<T>,
): RunGateway => ({
  publish: (commands) => ask(() => publishForRuns(ports, commands)),
  wait: (command) => ask(() => placeWait(ports, command)),
  notify: (...given) =>
    ask(async () => {
      const notified: Notified[] = [];
      for await (const page of notify(ports, ...given)) notified.push(...page);
      return notified;
    }),
  notifyRun: (address, event, body) => ask(() => notifyRun(ports, address, event, body, true)),
  finish: (...given) => ask(() => finishRun(ports, ...given)),
  cancel: (address) => ask(() => endRun(ports, address)),
  again: (how, address, id) =>
    ask(async () => {
      const run = await ports.runs.get(address);
      if (!run || !isFailed(run)) return run && isActive(run) ? "active" : undefined;
      const make = how === "restart" ? restartRun : resumeRun;
      return make(ports, run, id, { headers: [], policy: {} });
    }),
});
