/** A store under test, and the few steps that bring its records where a proof begins. */
import { expect } from "@jest/globals";
import {
  accept,
  alarmOf,
  flowLaneId,
  type FlowLimits,
  type InState,
  isIn,
  type LaneId,
  limits,
  type Message,
  type MessageId,
  type MessageRecord,
  type Outcome,
  type Owner,
  settleAttempt,
  shardCount,
  type StateKind,
} from "@posthaste/domain";
import {
  type Ids,
  type MessageStore,
  type Rings,
  type Settled,
  type TokenStore,
} from "@posthaste/ports";
import { aMessage, anOwner, aTenant, type MessageOverrides } from "../../builders/message.ts";
import { anAnswer, anAttempt } from "../../builders/outcome.ts";
import { type Closable, type Guarantee } from "../guarantee.ts";

export type MessageStoreHarness = Closable & {
  readonly store: MessageStore;
  /** The same records as another process sees them; where there is none, `store` races against itself. */
  readonly other?: MessageStore;
  /** Of a store that keeps the dedup windows, too. */
  readonly tokens?: TokenStore;
  /** The store's own ids. */
  readonly ids: Ids;
  /** The store's clock. */
  readonly now: () => number;
  readonly advance: (ms: number) => Promise<void>;
};

export type StoreGuarantee = Guarantee<MessageStoreHarness>;

export const allShards: readonly number[] = Array.from({ length: shardCount }, (_, shard) => shard);

/** A lane that lets one message run at a time. */
export const oneAtATime: { readonly key: string; readonly limits: FlowLimits } = {
  key: "tight",
  limits: { parallelism: 1, periodMs: 1_000 },
};
export const tightLane = flowLaneId(aTenant, oneAtATime.key);

export const newMessage = (
  harness: MessageStoreHarness,
  overrides: MessageOverrides = {},
): Message => aMessage({ id: harness.ids.next(), now: harness.now(), ...overrides });

/** Accepts a message and answers with it. */
export async function insert(
  harness: MessageStoreHarness,
  overrides: MessageOverrides = {},
): Promise<Message> {
  const [message] = await insertAll(harness, [overrides]);
  if (!message) throw new Error("unreachable: one message in, one message out");
  return message;
}

export async function insertAll(
  harness: MessageStoreHarness,
  overrides: readonly MessageOverrides[],
): Promise<readonly Message[]> {
  const messages = overrides.map((each) => newMessage(harness, each));
  const answers = await harness.store.insert(
    messages.map((message) => ({ record: accept(message, harness.now()) })),
  );
  expect(answers).toEqual(messages.map(() => "inserted"));
  return messages;
}

export async function claimOne(
  harness: MessageStoreHarness,
  id: MessageId,
  by: Owner = anOwner,
): Promise<InState<"claimed">> {
  const [claimed] = await harness.store.claim([id], by);
  if (!claimed) throw new Error(`${id} could not be claimed`);
  return claimed;
}

/** A message on its way: accepted and claimed. */
export async function insertClaimed(
  harness: MessageStoreHarness,
  overrides: MessageOverrides = {},
): Promise<InState<"claimed">> {
  const { id, flowLane } = await insert(harness, overrides);
  if (flowLane) await harness.store.promote(flowLane, [id], harness.now() + limits.grantMs);
  return claimOne(harness, id);
}

/** Who stands in a line, in its order. */
export async function inLine(
  { store }: MessageStoreHarness,
  lane: LaneId = tightLane,
  n = 10,
): Promise<readonly MessageId[]> {
  return (await store.heads(lane, n)).map(({ id }) => id);
}

export async function read(
  harness: MessageStoreHarness,
  { id, tenant }: Pick<Message, "id" | "tenant">,
): Promise<MessageRecord> {
  const [record] = await harness.store.get(tenant, [id]);
  if (!record) throw new Error(`${id} is not there`);
  return record;
}

export async function readIn<K extends StateKind>(
  harness: MessageStoreHarness,
  message: Pick<Message, "id" | "tenant">,
  kind: K,
): Promise<InState<K>> {
  const record = await read(harness, message);
  if (!isIn(record, kind)) throw new Error(`${message.id} is ${record.state.kind}, not ${kind}`);
  return record;
}

export async function stateOf(
  harness: MessageStoreHarness,
  message: Pick<Message, "id" | "tenant">,
): Promise<StateKind> {
  const { state } = await read(harness, message);
  return state.kind;
}

/** As the domain decides it, ended now, with neither jitter nor expression. */
export const settlementOf = (
  harness: MessageStoreHarness,
  record: InState<"claimed">,
  outcome: Outcome,
) =>
  settleAttempt(record, anAttempt(outcome, { endedAt: harness.now() }), {
    chance: 0,
    retryDelayMs: 10_000,
  });

export async function settle(
  harness: MessageStoreHarness,
  record: InState<"claimed">,
  outcome: Outcome,
): Promise<Settled> {
  const [answer] = await harness.store.settle([settlementOf(harness, record, outcome)]);
  if (!answer) throw new Error("unreachable: one settlement in, one answer out");
  return answer;
}

export const delivered = anAnswer(200, { body: "fine" });
export const refused = anAnswer(503, { headers: [["X-Why", "busy"]], body: "not now" });

/** Clears the whole outbox, as if every follow-up were safe. */
export async function clearAll(
  harness: MessageStoreHarness,
  message: Pick<Message, "id" | "tenant">,
): Promise<void> {
  const { outbox } = await read(harness, message);
  await harness.store.clear(
    outbox.map(({ attempt, kind }) => ({ id: message.id, attempt, item: kind })),
  );
}

/** A message that has been delivered and has caused nothing that is not safe. */
export async function insertDelivered(
  harness: MessageStoreHarness,
  overrides: MessageOverrides = {},
): Promise<Message> {
  const record = await insertClaimed(harness, overrides);
  await settle(harness, record, delivered);
  await clearAll(harness, record.message);
  return record.message;
}

/** The bound is generous: a ring moves every alarm ahead, so each round has less to do. */
const roundsMax = 100;

/** Rings until nothing is due, and answers what was said. */
export async function ringAll(
  harness: MessageStoreHarness,
  shards = allShards,
  limit = 500,
): Promise<Rings> {
  let all: Rings = { hints: [], lanes: [], expanding: [], followUps: [] };
  for (let round = 0; round < roundsMax; round++) {
    const said = await harness.store.ring(shards, limit);
    if (rungBy(said) === 0) return all;
    all = {
      hints: [...all.hints, ...said.hints],
      lanes: [...all.lanes, ...said.lanes],
      expanding: [...all.expanding, ...said.expanding],
      followUps: [...all.followUps, ...said.followUps],
    };
  }
  throw new Error(`alarms still ring after ${roundsMax} rounds`);
}

export const rungBy = ({ hints, lanes, expanding, followUps }: Rings): number =>
  hints.length + lanes.length + expanding.length + followUps.length;

/**
 * The alarm that `alarmOf` gives to the record's state, entered between two readings of the store's clock. Where the
 * store has made a follow-up safe in the very write, the alarm of an outbox may still stand: earlier does no harm.
 */
export function expectAlarm(record: MessageRecord, from: number, to: number): void {
  const hasOutbox = record.outbox.length > 0;
  const earliest = alarmOf(record.state, true, from) ?? Number.NaN;
  const latest = alarmOf(record.state, hasOutbox, to);
  if (latest === undefined) return;
  expect(record.wakeAt).toBeGreaterThanOrEqual(earliest);
  expect(record.wakeAt).toBeLessThanOrEqual(latest);
}
