/** Record stores of several processes over one database, and the steps that bring records where a proof begins. */
import {
  accept,
  type InState,
  limits,
  type Message,
  type MessageId,
  type Owner,
  settleAttempt,
  type Settlement,
} from "@posthaste/domain";
import { type Ids, type MessageStore } from "@posthaste/ports";
import { aMessage, anAnswer, anAttempt, anOwner, type MessageOverrides } from "@posthaste/testing";
import { createIds } from "../ids.ts";
import { freshDatabase, type Opened } from "../opened.fixture.ts";
import { createMessageStore, messageStoreIndexes } from "./store.ts";

export const allShards: readonly number[] = Array.from({ length: 64 }, (_, shard) => shard);

export type Harness = Opened & {
  readonly ids: Ids;
  readonly store: MessageStore;
  /** As a further process has it: what it asks gathers with nobody else's. */
  readonly another: () => MessageStore;
  readonly messages: (count: number, overrides?: MessageOverrides) => readonly Message[];
  readonly insert: (messages: readonly Message[], by?: MessageStore) => Promise<readonly string[]>;
  readonly claim: (
    ids: readonly MessageId[],
    by?: MessageStore,
    owner?: Owner,
  ) => Promise<readonly InState<"claimed">[]>;
};

/** To be called inside a `describe`; each call of the answer is an empty database. */
export function openStores(uri: string): () => Promise<Harness> {
  const open = freshDatabase(uri, messageStoreIndexes);
  return async () => harnessOn(await open());
}

function harnessOn(opened: Opened): Harness {
  const { connection, clock } = opened;
  const ids = createIds(connection);
  const another = (): MessageStore => createMessageStore(connection, connection);
  const store = another();
  return {
    ...opened,
    ids,
    store,
    another,
    messages: (count, overrides) =>
      Array.from({ length: count }, () =>
        aMessage({ id: ids.next(), now: clock.now(), ...overrides }),
      ),
    insert: (messages, by = store) =>
      by.insert(messages.map((message) => ({ record: accept(message, clock.now()) }))),
    claim: (claimed, by = store, owner = anOwner) => by.claim(claimed, owner),
  };
}

/** A success, or what `answer` makes of it, decided as the domain does. */
export const settlementOf = (
  record: InState<"claimed">,
  now: number,
  answer = anAnswer(200),
): Settlement =>
  settleAttempt(record, anAttempt(answer, { endedAt: now }), { chance: 0, retryDelayMs: 10_000 });

export const longEnoughMs = limits.leaseMs + 1;
