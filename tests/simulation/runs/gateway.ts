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
  appendSteps,
  endRun,
  type Ended,
  finishRun,
  invoke,
  isCall,
  isEntry,
  isInvoke,
  type Notified,
  notify,
  notifyRun,
  placeCall,
  placeWait,
  type Published,
  restartRun,
  resumeRun,
  type RunPorts,
  startRun,
  type WaitCommand,
} from "@posthaste/engine";
import { type RunAddress } from "@posthaste/ports";

export type Again = "restart" | "resume";

export type RunGateway = {
  start(command: PublishCommand): Promise<Published | Fault>;
  /** Publishes steps of one run, a call, or an invocation. */
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
  start: (command) => ask(() => startRun(ports, command)),
  publish: (commands) => ask(() => published(ports, commands)),
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

async function published(
  ports: RunPorts,
  commands: readonly PublishCommand[],
): Promise<readonly Published[] | Fault> {
  const [command] = commands;
  if (!command || isEntry(command)) return appendSteps(ports, commands.filter(isEntry));
  const one = isCall(command)
    ? await placeCall(ports, command)
    : isInvoke(command)
      ? await invoke(ports, command)
      : await startRun(ports, command);
  return "fault" in one ? one : [one];
}
