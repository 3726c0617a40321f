/** The workers of follow-ups, one for each kind. A worker makes its items safe and returns the safe ones. */
import {
  accept,
  type AttemptFact,
  callbackMessage,
  deadLetterOf,
  type FollowUpKind,
  type FollowUpOf,
  type Message,
  type MessageRecord,
  portionsOf,
  redactedConfiguration,
  type Sha256Hex,
  sizeOf,
} from "@posthaste/domain";
import {
  causeOf,
  type Clock,
  type DeadLetters,
  type EventBus,
  type Records,
  type RunStore,
  noTelemetry,
  type OutboxItemRef,
  type SettledEvent,
  type Span,
  type Telemetry,
  type Tracer,
} from "@posthaste/ports";
import { announceTraced, insertAccepted } from "../publish/announce.ts";
import { deliverCallResult } from "../runs/call.ts";
import { failDelivered, startUnmarked } from "../runs/end.ts";
import { failureTold } from "../runs/failure-function.ts";

export type WorkerPorts = {
  readonly records: Records;
  readonly deadLetters: DeadLetters;
  readonly runs: RunStore;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
  readonly telemetry?: Telemetry;
};

export type Task<K extends FollowUpKind> = {
  readonly message: Message;
  readonly item: FollowUpOf<K>;
};

type Worker<K extends FollowUpKind> = (
  ports: WorkerPorts,
  tasks: readonly Task<K>[],
) => Promise<readonly OutboxItemRef[]>;

/** A kind without a worker does not compile. */
export const workers: { readonly [K in FollowUpKind]: Worker<K> } = {
  deadLetter: async ({ deadLetters }, tasks) => {
    await deadLetters.insert(tasks.map(({ message, item }) => deadLetterOf(message, item)));
    return tasks.map(refOf);
  },
  callback: insertCallbacks,
  failureCallback: insertCallbacks,
  run: async (ports, tasks) => {
    for (const { message, item } of tasks) await ofRun[item.says](ports, message, item);
    return tasks.map(refOf);
  },
  // Does not wait for a bus that is away: the facts stay, and ring when the bus is back.
  fact: async (ports, tasks) => {
    if (!ports.bus.isUp()) return [];
    const events = tasks.map(({ message, item }) => settledEvent(ports, message, item));
    await ports.bus.publish("message.settled", events);
    return tasks.map(refOf);
  },
};

const ofRun = {
  called: deliverCallResult,
  failed: failDelivered,
  told: failureTold,
  unmarked: startUnmarked,
} as const;

const refOf = <K extends FollowUpKind>({ message, item }: Task<K>): OutboxItemRef => ({
  id: message.id,
  attempt: item.attempt,
  item: item.kind,
});

export const settledEvent = (
  { sha256 }: Pick<WorkerPorts, "sha256">,
  message: Message,
  fact: AttemptFact,
): SettledEvent => ({
  id: message.id,
  message: redactedConfiguration(message, sha256),
  fact,
});

type CallbackKind = "callback" | "failureCallback";
type Made = {
  readonly record: MessageRecord;
  readonly kind: CallbackKind;
  readonly span: Span | undefined;
};

async function insertCallbacks<K extends CallbackKind>(
  ports: WorkerPorts,
  tasks: readonly Task<K>[],
): Promise<readonly OutboxItemRef[]> {
  const bytesOf = ({ message, item }: Task<K>): number => sizeOf({ message, outbox: [item] });
  for (const some of portionsOf(tasks, bytesOf, { bytesMax: bytesAtOnceMax }))
    await insertMade(
      ports,
      some.flatMap((task) => makeCallback(ports, task) ?? []),
    );
  return tasks.map(refOf);
}

/** The bytes of bodies and answers of the callbacks that are made at once; a callback holds both in base64. */
const bytesAtOnceMax = 4 * 1024 * 1024;

async function insertMade(ports: WorkerPorts, made: readonly Made[]): Promise<void> {
  const { metrics, tracer } = ports.telemetry ?? noTelemetry;
  const records = await insertAccepted(
    ports,
    made.map(({ record }) => record),
  );
  for (const { kind, span } of made.filter(({ record }) => records.includes(record))) {
    metrics.count("posthaste_callbacks_total", kind);
    // The span of a callback that existed already is never ended, and so never exported.
    span?.end();
  }
  await announceTraced(ports, tracer, records);
}

/** Returns undefined when the message asked for no such callback. */
function makeCallback<K extends CallbackKind>(
  { bus, clock, telemetry }: WorkerPorts,
  { message, item }: Task<K>,
): Made | undefined {
  const callback = callbackMessage(message, item);
  if (!callback) return undefined;
  const { tracer } = telemetry ?? noTelemetry;
  const now = clock.now();
  const span = startCallback(tracer, message, callback, now);
  const traced = span ? { ...callback, trace: span.traceParent } : callback;
  return { record: accept(traced, now, !bus.isUp()), kind: item.kind, span };
}

/** Starts the span of `callback`, which an attempt of `source` caused. */
function startCallback(
  tracer: Tracer,
  source: Message,
  callback: Message,
  now: number,
): Span | undefined {
  if (!tracer.isOn || source.trace === undefined) return undefined;
  return tracer.start("callback", {
    kind: "producer",
    cause: causeOf(source.trace, source.run?.createdAt ?? source.createdAt, now),
    attributes: {
      "posthaste.tenant": callback.tenant,
      "posthaste.message.id": callback.id,
      "posthaste.source.id": source.id,
    },
  });
}
