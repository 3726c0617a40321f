/** The form of a planted bug: a careless change, done to the ports of a process. */
import { type CallbackDispatcherPorts } from "@posthaste/callback-dispatcher";
import { type DelivererPorts } from "@posthaste/deliverer";
import { isIn, type Message, type MessageId } from "@posthaste/domain";
import { type AcceptPorts, type CancelPorts } from "@posthaste/engine";
import { type Records, type Roster } from "@posthaste/ports";
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
  /** The bug shows only if something happens in one of few moments, so more histories are tried. */
  readonly isRare?: true;
  readonly change?: (ports: NodePorts, model: Model, life: Life) => NodePorts;
  /** Changes a write of the adapter of MongoDB, in histories over documents. */
  readonly instead?: Instead;
};

/** Returns the port with some of its operations replaced. */
const otherwise = <P extends object>(port: P, other: Partial<P>): P =>
  new Proxy<P>(port, {
    get: (target, property): unknown => Reflect.get(property in other ? other : target, property),
  });

/** Returns the ports with some operations of one of them replaced. */
export function withPort<K extends keyof NodePorts>(
  ports: NodePorts,
  name: K,
  other: Partial<NonNullable<NodePorts[K]>>,
): NodePorts {
  const port = ports[name];
  return typeof port === "object" ? { ...ports, [name]: otherwise<object>(port, other) } : ports;
}

export const inserting = (ports: NodePorts, change: (record: Inserted) => Inserted): NodePorts =>
  withPort(ports, "records", {
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
