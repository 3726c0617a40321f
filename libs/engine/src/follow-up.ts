/**
 * Follow-ups: works through outboxes in the order dead letter, callback, failure callback, fact, and clears what is
 * safe (decisions.md 1). Whoever runs it, however often, the same things come to exist: all ids are derived.
 */
import {
  type FollowUp,
  type Message,
  type MessageRecord,
  accept,
  callbackMessage,
  deadLetterOf,
  redactedConfiguration,
  type Sha256Hex,
} from "@posthaste/domain";
import { type Clock, type DeadLetters, type EventBus, type MessageStore, type OutboxItemRef } from "@posthaste/ports";
import { announce } from "./announce.ts";

export type FollowUpPorts = {
  readonly messages: MessageStore;
  readonly deadLetters: DeadLetters;
  readonly bus: EventBus;
  readonly clock: Clock;
  readonly sha256: Sha256Hex;
};

export type Outbox = { readonly message: Message; readonly items: readonly FollowUp[] };

export async function followUp(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  await insertDeadLetters(ports, outboxes);
  await insertCallbacks(ports, outboxes);
  await publishFacts(ports, outboxes);
  await clear(ports, outboxes);
}

/** What the deliverer does itself after a settle, so that dead letter and fact are safe without another hop; callbacks are left to their dispatcher. */
export async function tellSettled(ports: FollowUpPorts, outbox: Outbox): Promise<void> {
  const items = outbox.items.filter(({ kind }) => kind === "deadLetter" || kind === "fact");
  const own = [{ message: outbox.message, items }];
  await insertDeadLetters(ports, own);
  await publishFacts(ports, own);
  await clear(ports, own);
}

async function insertDeadLetters(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  const letters = outboxes.flatMap(({ message, items }) =>
    items.flatMap((item) => (item.kind === "deadLetter" ? [deadLetterOf(message, item)] : [])),
  );
  if (letters.length > 0) await ports.deadLetters.insert(letters);
}

async function insertCallbacks(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  const now = ports.clock.now();
  const records: MessageRecord[] = [];
  for (const { message, items } of outboxes) {
    for (const item of items) {
      if (item.kind !== "callback" && item.kind !== "failureCallback") continue;
      const callback = callbackMessage(message, item);
      if (callback) records.push(accept(callback, now));
    }
  }
  if (records.length === 0) return;
  const inserted = await ports.messages.insert(records.map((record) => ({ record })));
  await announce(ports, records.filter((_, i) => inserted[i] === "inserted"));
}

async function publishFacts(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  const facts = outboxes.flatMap(({ message, items }) =>
    items.flatMap((item) =>
      item.kind === "fact" ? [{ id: message.id, message: redactedConfiguration(message, ports.sha256), fact: item }] : [],
    ),
  );
  if (facts.length > 0) await ports.bus.publish("message.settled", facts);
}

async function clear(ports: FollowUpPorts, outboxes: readonly Outbox[]): Promise<void> {
  const done: OutboxItemRef[] = outboxes.flatMap(({ message, items }) =>
    items.map((item) => ({ id: message.id, attempt: item.attempt, item: item.kind })),
  );
  if (done.length > 0) await ports.messages.clear(done);
}
