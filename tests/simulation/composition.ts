/**
 * The services as they are composed, on simulated processes. Distributed: several of each over a bus and stores of
 * their own. Standalone: one process with all of them and the hand-over from gateway to deliverer.
 */
import { hash } from "node:crypto";
import { CallbackDispatcher } from "@posthaste/callback-dispatcher";
import { type Compose, Deliverer } from "@posthaste/deliverer";
import {
  allShards,
  defaultPlan,
  type Message,
  owner,
  type Sha256Hex,
  type TenantId,
} from "@posthaste/domain";
import { NamedDeliverers, Standby } from "@posthaste/engine";
import { retryDelays } from "@posthaste/retry-delays-mathjs";
import { type LocalDelivery, type Log, noTelemetry } from "@posthaste/ports";
import { Scheduler } from "@posthaste/scheduler";
import { type RecordingLog, recordingLog, seededRandom } from "@posthaste/testing";
import { WorkflowLog } from "@posthaste/workflow-log";
import { type Backend } from "./backend.ts";
import { type Gateway, simulatedGateway, tenantOf } from "./gateway.ts";
import { type Mutation, type NodePorts } from "./mutate.ts";
import { storesBehind } from "./stores.ts";
import { type SimulatedBus, simulatedBus } from "./world/bus.ts";
import { type Destinations, ourHeaders } from "./world/destination.ts";
import { type Environment, type Life, type Runnable, SimulatedNode } from "./world/node.ts";
import { observedBus, observedTokens } from "./world/observed.ts";

/** Shared by the processes: a compiled expression is the same in every process, and compiling takes long. */
const delays = retryDelays();

export type Shape = "distributed" | "standalone";

export type Composition = {
  readonly nodes: readonly SimulatedNode[];
  readonly bus: SimulatedBus;
  gateways(): readonly Gateway[];
  /** Returns the deliverers of the lives that have not ended. */
  readonly deliverers: () => readonly (readonly [Life, Deliverer])[];
  readonly log: RecordingLog;
};

type Making = {
  readonly environment: Environment;
  readonly backend: Backend;
  readonly destinations: Destinations;
  readonly bus: SimulatedBus;
  readonly log: RecordingLog;
  readonly mutation: Mutation | undefined;
  readonly isApart: boolean;
  /** Running gateways, by node. */
  readonly open: Map<string, { readonly life: Life; readonly gateway: Gateway }>;
  readonly delivering: Map<Life, Deliverer>;
};

const sha256: Sha256Hex = (value) => hash("sha256", value, "hex");
const slots = { shortMax: 8, perOriginMax: 4, waitingMax: 4 };
const bodyBytesMax = 1024 * 1024;
const drainMs = 20_000;

const runHeaders = ({ run }: Message): [string, string][] =>
  run
    ? [
        [ourHeaders.runId, run.id],
        [ourHeaders.runCreatedAt, String(run.createdAt)],
        [ourHeaders.probes, String(run.probes === true)],
      ]
    : [];

const compose: Compose = ({ message, epoch, retried }) => ({
  tenant: message.tenant,
  url: message.url,
  method: message.method,
  headers: [
    ...message.headers,
    [ourHeaders.id, message.id],
    [ourHeaders.tenant, message.tenant],
    [ourHeaders.epoch, String(epoch)],
    [ourHeaders.retried, String(retried)],
    ...runHeaders(message),
  ],
  body: message.body,
  timeoutMs: message.policy.timeoutMs,
  responseBytesMax: 1_024,
});

export function composition(
  shape: Shape,
  environment: Environment,
  backend: Backend,
  destinations: Destinations,
  mutation: Mutation | undefined,
): Composition {
  const making: Making = {
    environment,
    backend,
    destinations,
    bus: simulatedBus(environment, { local: shape === "standalone" }),
    log: recordingLog(false),
    mutation,
    isApart: shape === "distributed",
    open: new Map(),
    delivering: new Map(),
  };
  const nodes = shape === "distributed" ? distributed(making) : standalone(making);
  return {
    ...{ nodes, bus: making.bus, log: making.log },
    gateways: () => gatewaysOf(making, nodes),
    deliverers: () => [...making.delivering].filter(([life]) => !life.hasEnded),
  };
}

function distributed(making: Making): readonly SimulatedNode[] {
  const { environment } = making;
  const chance = environment.world.chanceOf();
  const overlapping = chance.chance(0.5);
  const several = (
    role: string,
    count: number,
    make: (life: Life, index: number) => Runnable,
  ): SimulatedNode[] =>
    Array.from(
      { length: count },
      (_, i) => new SimulatedNode(environment, `${role}-${i + 1}`, (life) => make(life, i)),
    );
  const schedulers = chance.integer(1, 3);
  return [
    ...several("gateway", 2, (life) => gateway(making, life)),
    ...several("scheduler", schedulers, (life, i) =>
      scheduler(
        making,
        life,
        overlapping ? allShards : allShards.filter((shard) => shard % schedulers === i),
      ),
    ),
    ...several("deliverer", chance.integer(2, 3), (life) => delivererApart(making, life)),
    ...several("dispatcher", 2, (life) => new CallbackDispatcher(portsOf(making, life))),
    ...several("log", 1, (life) => workflowLog(making, life)),
  ];
}

function standalone(making: Making): readonly SimulatedNode[] {
  const all = (life: Life): Runnable => {
    const delivering = deliverer(making, life);
    const services = [
      workflowLog(making, life),
      new CallbackDispatcher(portsOf(making, life)),
      delivering,
      scheduler(making, life, allShards),
      gateway(making, life, delivering.local),
    ];
    return {
      start: async () => {
        for (const service of services) await service.start();
      },
      stop: async () => {
        for (const service of services.toReversed()) await service.stop();
      },
    };
  };
  const { environment, backend } = making;
  const reopen = (): void => {
    // Slots and rate windows were in the memory of the process.
    environment.history.fault("flush", undefined, environment.world.now, environment.world.now);
    backend.model?.reopen();
  };
  return [new SimulatedNode(environment, "standalone", all, reopen)];
}

/** Returns everything a service may need, as this life reaches it. */
function portsOf(making: Making, life: Life, shards?: readonly number[]): NodePorts {
  const { environment, backend, mutation } = making;
  const { world, history } = environment;
  const watching = { world, history, node: life.node.name };
  const random = seededRandom(world.chanceOf().integer(0, 0xffff_ffff));
  const log: Log = {
    ...making.log,
    warn: (event, fields) => {
      const error: unknown = fields?.["error"];
      world.trace(`${life.name} warns ${event} ${Error.isError(error) ? error.message : ""}`);
      making.log.warn(event, fields);
    },
  };
  const { roster, ...stores } = backend.reachedBy?.(life) ?? storesBehind(life, backend, watching);
  const ports: NodePorts = {
    ...stores,
    tokens: life.remote("tokens", observedTokens(backend.tokens, watching)),
    tenants: new Map(),
    // Retention is longer than any simulation.
    accounts: { tenantPage: async () => [] },
    ...(making.isApart && { roster }),
    bus: making.bus.portOf(life, (bus) => observedBus(bus, backend.deadLetters, watching), shards),
    sender: making.destinations.senderOf(life),
    clock: life.clock,
    random,
    retryDelays: delays,
    sha256,
    log,
  };
  return mutation?.change && backend.model ? mutation.change(ports, backend.model, life) : ports;
}

function gateway(making: Making, life: Life, local?: LocalDelivery): Runnable {
  const given = portsOf(making, life);
  const { roster } = given;
  const { metrics } = noTelemetry;
  const named =
    roster && new NamedDeliverers({ ...given, roster, metrics, planOf: () => defaultPlan });
  const ports = { ...given, ...(local && { local }), ...(named && { named }) };
  const gateway = simulatedGateway(life.node.name, ports);
  return {
    start: async () => {
      await named?.start();
      making.open.set(life.node.name, { life, gateway });
    },
    stop: async () => {
      making.open.delete(life.node.name);
      await named?.stop();
    },
  };
}

const scheduler = (making: Making, life: Life, shards: readonly number[]): Scheduler =>
  new Scheduler(portsOf(making, life, shards));

const tenants = { get: tenantOf, find: async (id: TenantId) => tenantOf(id) };

function deliverer(making: Making, life: Life): Deliverer {
  const made = new Deliverer(
    { ...portsOf(making, life), tenants },
    {
      owner: owner(life.name),
      slots,
      bodyBytesMax,
      inlineHistoryBytesMax: bodyBytesMax,
      compose,
      drainMs,
    },
  );
  making.delivering.set(life, made);
  return made;
}

/** A deliverer in a process of its own, with a standby for the schedulers. */
function delivererApart(making: Making, life: Life): Runnable {
  const local = deliverer(making, life);
  const standby = new Standby(portsOf(making, life), (hints) => local.hear(hints));
  return {
    start: async () => {
      await local.start();
      await standby.start();
    },
    stop: async () => {
      await standby.stop();
      await local.stop();
    },
  };
}

const workflowLog = (making: Making, life: Life): WorkflowLog =>
  new WorkflowLog(portsOf(making, life), { diskShareMax: 1 });

function gatewaysOf(
  { open, environment }: Making,
  nodes: readonly SimulatedNode[],
): readonly Gateway[] {
  return nodes.flatMap((node) => {
    const found = open.get(node.name);
    return found && node.isUp && found.life === node.life
      ? [reached(environment, found.life, found.gateway)]
      : [];
  });
}

/** Returns the gateway as its clients reach it: they call it in its process, and an answer may never come. */
function reached({ world }: Environment, life: Life, gateway: Gateway): Gateway {
  const ask = <T>(task: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      world.after(1, () => life.deliver(() => void task().then(resolve, reject)));
    });
  return new Proxy(gateway, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...given: unknown[]) =>
        ask(async (): Promise<unknown> => Reflect.apply(member, target, given));
    },
  });
}
