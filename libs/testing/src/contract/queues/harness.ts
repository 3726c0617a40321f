/** Queues under test, and the steps that bring a queue into the state in which a proof begins. */
import { expect } from "@jest/globals";
import {
  type InState,
  isIn,
  type Message,
  type MessageId,
  queueId,
  type QueueId,
} from "@posthaste/domain";
import { type Admitted, type Ending } from "@posthaste/ports";
import { aTenant, anOwner, type MessageOverrides } from "../../builders/message.ts";
import { type Guarantee } from "../guarantee.ts";
import { insertAll, type RecordsHarness } from "../records/harness.ts";

export type QueuesHarness = RecordsHarness;

export type QueueGuarantee = Guarantee<QueuesHarness>;

export const name = "orders";
export const theQueue = queueId(aTenant, name);
export const manyQueues = 1_000;

export const enqueue = (
  harness: QueuesHarness,
  count: number,
  overrides: MessageOverrides = {},
): Promise<readonly Message[]> =>
  insertAll(
    harness,
    Array.from({ length: count }, () => ({ queue: theQueue, ...overrides })),
  );

export async function enqueueOne(
  harness: QueuesHarness,
  overrides: MessageOverrides = {},
): Promise<Message> {
  const [message] = await enqueue(harness, 1, overrides);
  if (!message) throw new Error("unreachable: one message in, one message out");
  return message;
}

export async function admit(
  { queues }: Pick<QueuesHarness, "queues">,
  queue: QueueId = theQueue,
  ending?: Ending,
): Promise<Admitted> {
  const [admitted] = await queues.admit([queue], ending);
  if (!admitted) throw new Error(`${queue} is not there`);
  return admitted;
}

export const hinted = ({ hints }: Admitted): readonly MessageId[] => hints.map(({ id }) => id);

/** Claims the claimable ones of `messages`, each once. */
export async function claimable(
  { records: store }: QueuesHarness,
  messages: readonly Message[],
): Promise<readonly InState<"claimed">[]> {
  return store.claim(
    messages.map(({ id }) => id),
    anOwner,
  );
}

export async function claimWithTurn(
  harness: QueuesHarness,
  message: Message,
): Promise<InState<"claimed">> {
  const [claimed] = await claimable(harness, [message]);
  if (!claimed) throw new Error(`${message.id} has no turn`);
  return claimed;
}

/** Returns the live messages of the queue that are not `queued`: each must have a turn. */
export async function withTurn(
  { records: store }: QueuesHarness,
  messages: readonly Message[],
): Promise<readonly MessageId[]> {
  const found = await store.get(
    aTenant,
    messages.map(({ id }) => id),
  );
  return found.flatMap((record) =>
    record && ["held", "waiting", "due", "claimed"].includes(record.state.kind)
      ? record.message.id
      : [],
  );
}

export async function expectQueued(harness: QueuesHarness, message: Message): Promise<void> {
  const [record] = await harness.records.get(message.tenant, [message.id]);
  expect(record && isIn(record, "queued")).toBe(true);
}
