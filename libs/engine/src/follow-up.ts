/**
 * Follow-ups: works through outboxes in the order dead letter, callback, failure callback, fact, and clears what is
 * safe (decisions.md 1). Whoever runs it, however often, the same things come to exist: all ids are derived.
 */
import {
  type AttemptFact,
  type CallbackItem,
  type FollowUp,
  type Message,
  type MessageRecord,
  accept,
  callbackMessage,
  deadLetterOf,
  redactedConfiguration,
  type Sha256Hex,
} from "@posthaste/domain";
import {
  type Clock,
  type DeadLetters,
  type EventBus,
  type MessageStore,
  noTelemetry,
  type OutboxItemRef,
  type Span,
  type Telemetry,
} from "@posthaste/ports";
import { announceTraced } from "./announce.ts";
import { startCallback } from "./trace.ts";

export type FollowUpPorts = {
  readonly messages: MessageStore;
  readonly deadLetters: DeadLetters;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
  readonly telemetry?: Telemetry;
};

export type Outbox = { readonly message: Message; readonly items: readonly FollowUp[] };

export async function followUp(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  await insertDeadLetters(ports, outboxes);
  await insertCallbacks(ports, outboxes);
  await publishFactsAndClear(ports, outboxes, outboxes);
}

/** A bus that is away keeps the facts in their outbox, and nothing else. */
async function publishFactsAndClear(
  ports: FollowUpPorts,
  facts: readonly Outbox[],
  outboxes: readonly Outbox[],
): Promise<void> {
  try {
    await publishFacts(ports, facts);
  } catch (error) {
    await clear(ports, outboxes, ({ kind }) => kind !== "fact");
    throw error;
  }
  await clear(ports, outboxes);
}

/**
 * What the deliverer does itself after a settle: dead letter and fact are made safe without another hop. Callbacks are
 * left to their dispatcher, who hears of them through the fact, also where the store has made that safe already.
 */
export async function tellSettled(
  ports: FollowUpPorts,
  settled: Outbox & { readonly fact: AttemptFact | undefined },
): Promise<void> {
  const { message, items, fact } = settled;
  const own = [
    { message, items: items.filter(({ kind }) => kind === "deadLetter" || kind === "fact") },
  ];
  await insertDeadLetters(ports, own);
  await publishFactsAndClear(ports, fact ? [{ message, items: [fact] }] : [], own);
}

async function insertDeadLetters(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  const letters = outboxes.flatMap(({ message, items }) =>
    items.flatMap((item) => (item.kind === "deadLetter" ? [deadLetterOf(message, item)] : [])),
  );
  if (letters.length > 0) await ports.deadLetters.insert(letters);
}

type Made = {
  readonly record: MessageRecord;
  readonly kind: CallbackItem["kind"];
  readonly span: Span | undefined;
};

async function insertCallbacks(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  const { metrics, tracer } = ports.telemetry ?? noTelemetry;
  const now = ports.clock.now();
  const made: Made[] = [];
  for (const { message, items } of outboxes) {
    for (const item of items) {
      if (item.kind !== "callback" && item.kind !== "failureCallback") continue;
      const callback = callbackMessage(message, item);
      if (!callback) continue;
      const span = startCallback(tracer, message, callback, now);
      const traced = span ? { ...callback, trace: span.traceParent } : callback;
      made.push({ record: accept(traced, now, !ports.bus.isUp()), kind: item.kind, span });
    }
  }
  if (made.length === 0) return;
  const inserted = await ports.messages.insert(made.map(({ record }) => ({ record })));
  const fresh = made.filter((_, i) => inserted[i] === "inserted");
  for (const { kind, span } of fresh) {
    metrics.count("posthaste_callbacks_total", kind);
    // That of a callback which was there already is never ended, and so never told.
    span?.end();
  }
  await announceTraced(
    ports,
    tracer,
    fresh.map(({ record }) => record),
  );
}

async function publishFacts(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  const facts = outboxes.flatMap(({ message, items }) =>
    items.flatMap((item) =>
      item.kind === "fact"
        ? [{ id: message.id, message: redactedConfiguration(message, ports.sha256), fact: item }]
        : [],
    ),
  );
  if (facts.length > 0) await ports.bus.publish("message.settled", facts);
}

async function clear(
  ports: FollowUpPorts,
  outboxes: readonly Outbox[],
  isDone: (item: FollowUp) => boolean = () => true,
): Promise<void> {
  const done: OutboxItemRef[] = outboxes.flatMap(({ message, items }) =>
    items
      .filter(isDone)
      .map((item) => ({ id: message.id, attempt: item.attempt, item: item.kind })),
  );
  if (done.length > 0) await ports.messages.clear(done);
}
