/** Starting a run: its head, its first entry and the delivery of that are there before the answer (docs/design/runs#starting). */
import {
  bytesOfEntry,
  type CallbackPlan,
  entryMessage,
  type Invoker,
  type MessageId,
  newOrder,
  notBeforeOf,
  type PublishCommand,
  type Run,
  runKey,
  type RunPlan,
  shardOf,
} from "@posthaste/domain";
import { type NextUse, type RunStore, type RunWrite } from "@posthaste/ports";
import { type AcceptPorts, type Published } from "../accept.ts";
import { Deliveries, type DeliveryPorts } from "./deliveries.ts";

export type RunPorts = AcceptPorts & { readonly runs: RunStore };

/** A command whose publish is the start of a run. */
export async function startRun(ports: RunPorts, command: PublishCommand): Promise<Published> {
  const { isNew, run } = await startRunOf(ports, command);
  return { messageId: run.root, url: run.url, deduplicated: !isNew };
}

/** The run that it has started, or that was active under its name. */
export const startRunOf = (ports: RunPorts, command: PublishCommand): Promise<StartedAs> =>
  startAs(ports, command, ports.ids.next(), undefined, notBeforeOf(command, ports.clock.now()));

type StartedAs = { readonly run: Run; readonly isNew: boolean };

/** `root`: of the run, if it is this that starts it. */
export async function startAs(
  ports: DeliveryPorts & Pick<RunPorts, "runs">,
  command: PublishCommand,
  root: MessageId,
  invoker: Invoker | undefined,
  notBefore: number,
): Promise<StartedAs> {
  const { destination, run: publish, tenant } = command;
  if (publish?.kind !== "start" || destination.kind !== "url")
    throw new Error("not the start of a run");
  const { url } = destination;
  const deliveries = new Deliveries(ports, tenant, [url]);

  const make = ({ generation, after }: NextUse): RunWrite => {
    const now = ports.clock.now();
    const run: Run = {
      key: runKey(tenant, publish.id, generation),
      id: publish.id,
      generation,
      root,
      tenant,
      dialect: command.dialect,
      shard: shardOf(root),
      url,
      callerIp: command.callerIp,
      createdAt: Math.max(now, after + 1),
      plan: planOf(command, publish),
      ...(invoker && { invoker }),
      state: { kind: "active", pending: [], notes: [] },
      history: newOrder,
      bytes: bytesOfEntry(command.body),
      reached: 0,
      version: 1,
    };
    const message = entryMessage(run, { role: "start" }, { ...command, url, notBefore }, now);
    const part = { name: "start", at: now, body: command.body, rank: 0 };
    return { run, parts: [part], deliveries: deliveries.of([message], now) };
  };

  const started = await deliveries.within(() => ports.runs.start(tenant, publish.id, make));
  const isNew = started.kind === "started" && started.run.root === root;
  if (isNew) deliveries.begin();
  else deliveries.drop();
  return { run: started.run, isNew };
}

type StartOf = Extract<NonNullable<PublishCommand["run"]>, { kind: "start" }>;

function planOf({ policy }: PublishCommand, { features, headers }: StartOf): RunPlan {
  const { callback: _, failureCallback, ...kept } = policy;
  const failureFunction: CallbackPlan | undefined = failureCallback;
  return { features, headers, policy: kept, ...(failureFunction && { failureFunction }) };
}
