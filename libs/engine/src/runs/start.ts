/** Starting a run: its head, its first entry and the delivery of that are there before the answer (docs/design/runs#starting). */
import {
  type CallbackPlan,
  entryMessage,
  fault,
  type Fault,
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
import { Deliveries } from "./deliveries.ts";

export type RunPorts = AcceptPorts & { readonly runs: RunStore };

/** A command whose publish is the start of a run. */
export async function startRun(
  ports: RunPorts,
  command: PublishCommand,
): Promise<Published | Fault> {
  const { destination, run: publish, tenant } = command;
  if (publish?.kind !== "start" || destination.kind !== "url")
    return fault("internal", "not the start of a run");
  const { url } = destination;
  const deliveries = new Deliveries(ports, tenant, [url]);
  const root = ports.ids.next();

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
      state: { kind: "active", pending: [], notes: [] },
      history: newOrder,
      reached: 0,
      version: 1,
    };
    const delivery = { ...command, url, notBefore: notBeforeOf(command, now) };
    const message = entryMessage(run, { role: "start" }, delivery, now);
    const part = { name: "start", at: now, body: command.body, rank: 0 };
    return { run, parts: [part], deliveries: deliveries.of([message], now) };
  };

  const started = await deliveries.within(() => ports.runs.start(tenant, publish.id, make));
  const isNew = started.kind === "started" && started.run.root === root;
  if (isNew) deliveries.begin();
  return { messageId: started.run.root, url, deduplicated: !isNew };
}

type StartOf = Extract<NonNullable<PublishCommand["run"]>, { kind: "start" }>;

function planOf({ policy }: PublishCommand, { features, headers }: StartOf): RunPlan {
  const { callback: _, failureCallback, ...kept } = policy;
  const failureFunction: CallbackPlan | undefined = failureCallback;
  return { features, headers, policy: kept, ...(failureFunction && { failureFunction }) };
}
