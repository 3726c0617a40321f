/** The form of a planted bug: a careless change, done to the ports of a process. */
import { type CallbackDispatcherPorts } from "@posthaste/callback-dispatcher";
import { type DelivererPorts } from "@posthaste/deliverer";
import { isIn, type Message, type MessageId } from "@posthaste/domain";
import { type AcceptPorts, type CancelPorts } from "@posthaste/engine";
import {
  type Alarms,
  type BulkActions,
  type DeadLetters,
  type FlowLanes,
  type Queues,
  type Records,
  type Roster,
  type RunStore,
  type Schedules,
  type TokenStore,
} from "@posthaste/ports";
import { type SchedulerPorts } from "@posthaste/scheduler";
import { type WorkflowLogPorts } from "@posthaste/workflow-log";
import { type Model } from "./backend.ts";
import { type Instead } from "./mongodb/server.ts";
import { type Life } from "./world/node.ts";

export type NodePorts = Omit<AcceptPorts, "local"> &
  Omit<CancelPorts, "local"> &
  Omit<DelivererPorts, "tenants"> & { readonly roster?: Roster } & SchedulerPorts &
  CallbackDispatcherPorts &
  WorkflowLogPorts;

export type Mutation = {
  readonly name: string;
  /** The workload that the bug needs in order to show, which then runs in every seed. */
  readonly shownBy?:
    | "schedules"
    | "queues"
    | "bulkActions"
    | "plainMessages"
    | "deadLetters"
    | "runs"
    | "clocks";
  /** The bug shows only if an answer is lost in one of few moments, so more histories are tried. */
  readonly isRare?: true;
  readonly change?: (ports: NodePorts, model: Model, life: Life) => NodePorts;
  /** Changes a write of the adapter of MongoDB, in histories over documents. */
  readonly instead?: Instead;
};

/** Returns the port with some of its operations replaced. */
export const otherwise = <P extends object>(port: P, other: Partial<P>): P =>
  new Proxy<P>(port, {
    get: (target, property): unknown => Reflect.get(property in other ? other : target, property),
  });

export const withRecords = (ports: NodePorts, other: Partial<Records>): NodePorts => ({
  ...ports,
  records: otherwise(ports.records, other),
});

export const inserting = (ports: NodePorts, change: (record: Inserted) => Inserted): NodePorts =>
  withRecords(ports, {
    insert: (inserts, intake) =>
      ports.records.insert(
        inserts.map(({ record, ...rest }) => ({ ...rest, record: change(record) })),
        intake,
      ),
  });

type Inserted = Parameters<Records["insert"]>[0][number]["record"];

/** Gives inserted messages another id, if `idOf` returns one. */
export const insertingAs = (
  ports: NodePorts,
  idOf: (message: Message) => MessageId | undefined,
): NodePorts =>
  inserting(ports, (record) => {
    const { message } = record;
    return { ...record, message: { ...message, id: idOf(message) ?? message.id } };
  });

/** Makes records that are inserted in this state due instead. */
export const dueAtOnce =
  (state: "held" | "queued") =>
  (ports: NodePorts): NodePorts =>
    inserting(ports, (record) =>
      isIn(record, state)
        ? { ...record, state: { kind: "due", hints: 0 }, wakeAt: ports.clock.now() }
        : record,
    );

export const withAlarms = (ports: NodePorts, other: Partial<Alarms>): NodePorts => ({
  ...ports,
  alarms: otherwise(ports.alarms, other),
});

export const withFlowLanes = (ports: NodePorts, other: Partial<FlowLanes>): NodePorts => ({
  ...ports,
  flowLanes: otherwise(ports.flowLanes, other),
});

export const withDeadLetters = (ports: NodePorts, other: Partial<DeadLetters>): NodePorts => ({
  ...ports,
  deadLetters: otherwise(ports.deadLetters, other),
});

export const withQueues = (ports: NodePorts, other: Partial<Queues>): NodePorts => ({
  ...ports,
  queues: otherwise(ports.queues, other),
});

export const withSchedules = (ports: NodePorts, other: Partial<Schedules>): NodePorts => ({
  ...ports,
  schedules: otherwise(ports.schedules, other),
});

export const withBulkActions = (ports: NodePorts, other: Partial<BulkActions>): NodePorts => ({
  ...ports,
  bulkActions: otherwise(ports.bulkActions, other),
});

export const withRuns = (ports: NodePorts, other: Partial<RunStore>): NodePorts => ({
  ...ports,
  runs: otherwise(ports.runs, other),
});

export const withTokens = (ports: NodePorts, other: Partial<TokenStore>): NodePorts => ({
  ...ports,
  tokens: otherwise(ports.tokens, other),
});
