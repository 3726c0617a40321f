/** Record stores of several processes over one database, and the steps that bring records into the state in which a test begins. */
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
import { type Ids, type RecordPorts, type Records } from "@posthaste/ports";
import { aMessage, anAnswer, anAttempt, anOwner, type MessageOverrides } from "@posthaste/testing";
import { createIds } from "../ids.ts";
import { freshDatabase, type Opened } from "../opened.fixture.ts";
import { createRecordPorts, recordIndexes } from "./record-ports.ts";

export type Harness = Opened &
  RecordPorts & {
    readonly ids: Ids;
    /** Returns the ports of a further process, whose calls are gathered apart. */
    readonly another: () => RecordPorts;
    readonly messages: (count: number, overrides?: MessageOverrides) => readonly Message[];
    readonly insert: (messages: readonly Message[], by?: Records) => Promise<readonly string[]>;
    readonly insertOne: (overrides?: MessageOverrides) => Promise<Message>;
    readonly insertMany: (
      count: number,
      overrides?: MessageOverrides,
    ) => Promise<{ readonly sent: readonly Message[]; readonly ids: readonly MessageId[] }>;
    readonly claim: (
      ids: readonly MessageId[],
      by?: Records,
      owner?: Owner,
    ) => Promise<readonly InState<"claimed">[]>;
    readonly settle: (
      claimed: readonly InState<"claimed">[],
      answer?: Parameters<typeof settlementOf>[2],
    ) => ReturnType<Records["settle"]>;
  };

/** Call inside a `describe`. Each call of the returned function opens an empty database. */
export function openStores(uri: string): () => Promise<Harness> {
  const open = freshDatabase(uri, recordIndexes);
  return async () => harnessOn(await open());
}

function harnessOn(opened: Opened): Harness {
  const { connection, clock } = opened;
  const ids = createIds(connection);
  const another = (): RecordPorts => createRecordPorts(connection, connection);
  const ports = another();
  const one = (overrides: MessageOverrides = {}): Message =>
    aMessage({ id: ids.next(), now: clock.now(), ...overrides });
  const messages: Harness["messages"] = (count, overrides) =>
    Array.from({ length: count }, () => one(overrides));
  const insert: Harness["insert"] = (given, by = ports.records) =>
    by.insert(
      given.map((message) => ({ record: accept(message, clock.now()) })),
      "new",
    );
  return {
    ...opened,
    ids,
    ...ports,
    another,
    messages,
    insert,
    insertOne: async (overrides) => {
      const message = one(overrides);
      await insert([message]);
      return message;
    },
    insertMany: async (count, overrides) => {
      const sent = messages(count, overrides);
      await insert(sent);
      return { sent, ids: sent.map(({ id }) => id) };
    },
    settle: (claimed, answer) =>
      ports.records.settle(claimed.map((record) => settlementOf(record, clock.now(), answer))),
    claim: (claimed, by = ports.records, owner = anOwner) => by.claim(claimed, owner),
  };
}

export const settlementOf = (
  record: InState<"claimed">,
  now: number,
  answer = anAnswer(200),
): Settlement =>
  settleAttempt(record, anAttempt(answer, { endedAt: now }), { chance: 0, retryDelayMs: 10_000 });

export const longEnoughMs = limits.leaseMs + 1;
