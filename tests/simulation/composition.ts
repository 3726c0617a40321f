/**
 * The services as they are composed, on simulated processes. Distributed: several of each over a bus and stores of their own. Standalone:
 * one process with all of them and the hand-over from gateway to deliverer.
 */
import { hash } from "node:crypto";
import { CallbackDispatcher } from "@posthaste/callback-dispatcher";
import { type Compose, Deliverer, Standby } from "@posthaste/deliverer";
import {
  allShards,
  type BulkActionId,
  type DeadLetter,
  type DlqId,
  type Fault,
  isFault,
  isUnderWay,
  type Message,
  type MessageId,
  owner,
  type PublishCommand,
  type Sha256Hex,
  type TenantId,
  defaultPlan,
} from "@posthaste/domain";
import {
  beginBulkAction,
  type BulkPorts,
  cancelMessages,
  childrenOf,
  NamedDeliverers,
  type CancelPorts,
  type GrantPorts,
  pauseFlowKey,
  pauseSchedule,
  pinFlowKey,
  publish,
  type Published,
  publishMany,
  readMessage,
  resumeFlowKey,
  endQueue,
  putQueue,
  putSchedule,
  resumeQueue,
  resumeSchedule,
  retryLetters,
  type RetryLettersPorts,
  type RunPorts,
  type ScheduleGiven,
  type SchedulePorts,
  unpinFlowKey,
  workOrHandOn,
} from "@posthaste/engine";
import { retryDelays } from "@posthaste/retry-delays-mathjs";
import {
  type LocalDelivery,
  type Log,
  noTelemetry,
  type QueueChange,
  type ScheduleKey,
} from "@posthaste/ports";
import { Scheduler } from "@posthaste/scheduler";
import { type RecordingLog, recordingLog, seededRandom } from "@posthaste/testing";
import { WorkflowLog } from "@posthaste/workflow-log";
import { type Backend } from "./backend.ts";
import { type Mutation, type NodePorts } from "./mutate.ts";
import { type RunGateway, runGateway } from "./runs/gateway.ts";
import { type SimulatedBus, simulatedBus } from "./world/bus.ts";
import { type Destinations, ourHeaders } from "./world/destination.ts";
import { type Environment, type Life, type Runnable, SimulatedNode } from "./world/node.ts";
import {
  observedBus,
  observedAlarms,
  observedDeadLetters,
  observedFanOuts,
  observedFlowLanes,
  observedMessageLog,
  observedRecords,
  observedRuns,
  observedTokens,
  observedQueues,
  observedSchedules,
} from "./world/observed.ts";

/** Shared by the processes: a compiled expression is the same in every process, and compiling takes long. */
const delays = retryDelays();

export type Shape = "distributed" | "standalone";

export type Composition = {
  readonly nodes: readonly SimulatedNode[];
  readonly bus: SimulatedBus;
  gateways(): readonly Gateway[];
  readonly log: RecordingLog;
};

/** A gateway as its clients reach it: an answer may never come. */
export type Gateway = {
  readonly node: string;
  publish(command: PublishCommand): Promise<Published | readonly Published[] | Fault>;
  read(tenant: TenantId, id: MessageId): Promise<"found" | "nothing">;
  cancel(tenant: TenantId, id: MessageId): Promise<boolean>;
  pause(tenant: TenantId, key: string): Promise<void>;
  resume(tenant: TenantId, key: string): Promise<void>;
  putQueue(change: QueueChange): Promise<void>;
  resumeQueue(tenant: TenantId, name: string): Promise<void>;
  endQueue(tenant: TenantId, name: string): Promise<void>;
  pin(tenant: TenantId, key: string, parallelism: number): Promise<void>;
  unpin(tenant: TenantId, key: string): Promise<void>;
  /** Returns the message of each item; undefined where none is known to be accepted. */
  publishMany(commands: readonly PublishCommand[]): Promise<readonly (Published | undefined)[]>;
  letters(tenant: TenantId): Promise<readonly DeadLetter[]>;
  retryLetters(tenant: TenantId, ids: readonly DlqId[]): Promise<readonly MessageId[] | Fault>;
  /** Returns the id of the bulk action that was begun. */
  cancelLabel(tenant: TenantId, label: string, isAsync: boolean): Promise<BulkActionId>;
  hasEnded(tenant: TenantId, id: BulkActionId): Promise<boolean>;
  putSchedule(given: ScheduleGiven): Promise<void>;
  pauseSchedule(key: ScheduleKey): Promise<void>;
  resumeSchedule(key: ScheduleKey): Promise<void>;
  removeSchedule(key: ScheduleKey): Promise<void>;
  readonly runs: RunGateway;
};

type GatewayPorts = RunPorts &
  BulkPorts &
  CancelPorts &
  GrantPorts &
  SchedulePorts &
  RetryLettersPorts;
const bulkCallMsMax = 60_000;

type Making = {
  readonly environment: Environment;
  readonly backend: Backend;
  readonly destinations: Destinations;
  readonly bus: SimulatedBus;
  readonly log: RecordingLog;
  readonly mutation: Mutation | undefined;
  readonly isApart: boolean;
  /** Running gateways, by node. */
  readonly open: Map<string, { readonly life: Life; readonly ports: GatewayPorts }>;
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
  };
  const nodes = shape === "distributed" ? distributed(making) : standalone(making);
  return { nodes, bus: making.bus, log: making.log, gateways: () => gatewaysOf(making, nodes) };
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
    const local = deliverer(making, life);
    const services = [
      workflowLog(making, life),
      new CallbackDispatcher(portsOf(making, life)),
      local,
      scheduler(making, life, allShards),
      gateway(making, life, local),
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
    // Slots and rate windows were in its memory.
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
  const ports: NodePorts = {
    records: life.remote("records", observedRecords(backend.records, watching)),
    alarms: life.remote("alarms", observedAlarms(backend.alarms, watching)),
    flowLanes: life.remote("flowLanes", observedFlowLanes(backend.flowLanes, watching)),
    queues: life.remote("queues", observedQueues(backend.queues, watching)),
    fanOuts: life.remote("fanOuts", observedFanOuts(backend.fanOuts, watching)),
    bulkActions: life.remote("bulkActions", backend.bulkActions),
    runs: life.remote("runs", observedRuns(backend.runs, watching)),
    runLog: life.remote("runLog", backend.runLog),
    tokens: life.remote("tokens", observedTokens(backend.tokens, watching)),
    deadLetters: life.remote("deadLetters", observedDeadLetters(backend.deadLetters, watching)),
    groups: life.remote("groups", backend.groups),
    schedules: life.remote("schedules", observedSchedules(backend.schedules, watching)),
    tenants: new Map(),
    // Retention is longer than any simulation.
    accounts: { tenantPage: async () => [] },
    messageLog: life.remote("messageLog", observedMessageLog(backend.messageLog, watching)),
    ...(making.isApart && { roster: life.remote("roster", backend.roster) }),
    bus: making.bus.portOf(life, (bus) => observedBus(bus, backend.deadLetters, watching), shards),
    sender: making.destinations.senderOf(life),
    ids: backend.ids,
    clock: life.clock,
    random,
    retryDelays: delays,
    sha256,
    log,
  };
  return mutation && backend.model ? mutation.change(ports, backend.model, life) : ports;
}

function gateway(making: Making, life: Life, local?: LocalDelivery): Runnable {
  const given = portsOf(making, life);
  const { roster } = given;
  const { metrics } = noTelemetry;
  const named =
    roster && new NamedDeliverers({ ...given, roster, metrics, planOf: () => defaultPlan });
  const ports: GatewayPorts = { ...given, ...(local && { local }), ...(named && { named }) };
  return {
    start: async () => {
      await named?.start();
      making.open.set(life.node.name, { life, ports });
    },
    stop: async () => {
      making.open.delete(life.node.name);
      await named?.stop();
    },
  };
}

const scheduler = (making: Making, life: Life, shards: readonly number[]): Scheduler =>
  new Scheduler(portsOf(making, life, shards));

const deliverer = (making: Making, life: Life): Deliverer =>
  new Deliverer(portsOf(making, life), {
    owner: owner(life.name),
    slots,
    bodyBytesMax,
    inlineHistoryBytesMax: bodyBytesMax,
    compose,
    findTenant: async () => false,
    capOf: () => "none",
    drainMs,
  });

/** A deliverer in a process of its own, which stands by for the schedulers. */
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
  new WorkflowLog(portsOf(making, life));

function gatewaysOf(
  { open, environment }: Making,
  nodes: readonly SimulatedNode[],
): readonly Gateway[] {
  return nodes.flatMap((node) => {
    const gateway = open.get(node.name);
    return gateway && node.isUp && gateway.life === node.life
      ? [reached(environment, gateway.life, gateway.ports)]
      : [];
  });
}

function reached({ world }: Environment, life: Life, ports: GatewayPorts): Gateway {
  const ask = <T>(task: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      world.after(1, () => life.deliver(() => void task().then(resolve, reject)));
    });
  return {
    node: life.node.name,
    publish: (command) =>
      ask(async () => {
        const published = await publish(ports, command);
        if (isFault(published) || "messageId" in published) return published;
        const all: Published[] = [];
        for await (const some of childrenOf(ports, published)) all.push(...some);
        return all;
      }),
    read: (tenant, id) =>
      ask(async () => ((await readMessage(ports, tenant, id)) ? "found" : "nothing")),
    cancel: (tenant, id) => ask(async () => (await cancelMessages(ports, tenant, [id])).length > 0),
    pause: (tenant, key) => ask(() => pauseFlowKey(ports, tenant, key)),
    resume: (tenant, key) => ask(() => resumeFlowKey(ports, tenant, key)),
    putQueue: (change) => ask(async () => void (await putQueue(ports, change, defaultPlan))),
    resumeQueue: (tenant, name) => ask(() => resumeQueue(ports, tenant, name)),
    endQueue: (tenant, name) => ask(() => endQueue(ports, tenant, name)),
    pin: (tenant, key, parallelism) => ask(() => pinFlowKey(ports, tenant, key, { parallelism })),
    unpin: (tenant, key) =>
      ask(
        async () =>
          void (await unpinFlowKey(ports, tenant, key, { parallelism: true, rate: true })),
      ),
    publishMany: (commands) =>
      ask(async () => {
        const outcomes = await publishMany(ports, commands, async () => undefined);
        if (isFault(outcomes) || "refused" in outcomes) return [];
        return outcomes.map((made) => ("messageId" in made ? made : undefined));
      }),
    letters: (tenant) =>
      ask(async () => {
        const page = { limit: 100, order: "earliestFirst" } as const;
        return (await ports.deadLetters.list(tenant, {}, page)).items;
      }),
    retryLetters: (id, letters) =>
      ask(() => retryLetters(ports, { id, plan: defaultPlan }, letters, unchanged)),
    cancelLabel: (tenant, label, isAsync) =>
      ask(async () => {
        const work = { kind: "cancel", filter: { labels: [label] } } as const;
        const how = { isWorkedHere: !isAsync, total: 0 };
        const begun = await beginBulkAction(ports, tenant, work, how);
        if (isFault(begun)) throw new Error(begun.text);
        const until = ports.clock.passedMs() + bulkCallMsMax;
        if (!isAsync && begun.isNew)
          void workOrHandOn(ports, begun.action, until).catch(() => undefined);
        return begun.action.id;
      }),
    hasEnded: (tenant, id) =>
      ask(async () => {
        const action = await ports.bulkActions.get(tenant, id);
        return action !== undefined && !isUnderWay(action);
      }),
    putSchedule: (given) => ask(async () => done(await putSchedule(ports, given, defaultPlan))),
    pauseSchedule: (key) => ask(async () => done(await pauseSchedule(ports, key))),
    resumeSchedule: (key) => ask(async () => done(await resumeSchedule(ports, key))),
    removeSchedule: (key) => ask(() => ports.schedules.remove(key)),
    runs: runGateway(ports, ask),
  };
}

const unchanged = { overrides: { headers: [], policy: {} }, refuse: () => undefined } as const;

/** Throws for a fault, except where another client has removed the schedule, which is an answer, too. */
function done(answer: object | undefined): void {
  if (isFault(answer) && answer.fault !== "not_found") throw new Error(answer.text);
}
