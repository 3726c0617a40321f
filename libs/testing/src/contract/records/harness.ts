/** A store under test, and the steps that bring its records into the state in which a proof begins. */
import { expect } from "@jest/globals";
import {
  accept,
  alarmOf,
  allShards,
  type FlowId,
  flowLaneId,
  type FlowLimits,
  type InState,
  isIn,
  limits,
  type Message,
  type MessageId,
  type MessageRecord,
  type Outcome,
  type Owner,
  settleAttempt,
  type StateKind,
} from "@posthaste/domain";
import {
  type Alarms,
  type Ids,
  type MessageLog,
  type RecordPorts,
  type Settled,
  type TokenStore,
} from "@posthaste/ports";
import { aMessage, anOwner, aTenant, type MessageOverrides } from "../../builders/message.ts";
import { anAnswer, anAttempt } from "../../builders/outcome.ts";
import { byKind, type RungByKind } from "../../by-kind.ts";
import { type Closable, type Guarantee } from "../guarantee.ts";

export type RecordsHarness = Closable &
  RecordPorts & {
    /** The same records as another process sees them. If absent, the one process races against itself. */
    readonly other?: RecordPorts;
    /** The tokens of a store that also keeps the deduplication windows. */
    readonly tokens?: TokenStore;
    readonly messageLog: MessageLog;
    readonly ids: Pick<Ids, "next">;
    readonly now: () => number;
    readonly advance: (ms: number) => Promise<void>;
  };

export type StoreGuarantee = Guarantee<RecordsHarness>;

/** A lane that lets one message run at a time. */
export const oneAtATime: { readonly key: string; readonly limits: FlowLimits } = {
  key: "tight",
  limits: { parallelism: 1, periodMs: 1_000 },
};
export const tightLane = flowLaneId(aTenant, oneAtATime.key);

export const newMessage = (harness: RecordsHarness, overrides: MessageOverrides = {}): Message =>
  aMessage({ id: harness.ids.next(), now: harness.now(), ...overrides });

export async function insert(
  harness: RecordsHarness,
  overrides: MessageOverrides = {},
): Promise<Message> {
  const [message] = await insertAll(harness, [overrides]);
  if (!message) throw new Error("unreachable: one message in, one message out");
  return message;
}

export async function insertAll(
  harness: RecordsHarness,
  overrides: readonly MessageOverrides[],
): Promise<readonly Message[]> {
  const messages = overrides.map((each) => newMessage(harness, each));
  const answers = await harness.records.insert(
    messages.map((message) => ({ record: accept(message, harness.now()) })),
    "new",
  );
  expect(answers).toEqual(messages.map(() => "inserted"));
  return messages;
}

export async function claimOne(
  harness: RecordsHarness,
  id: MessageId,
  by: Owner = anOwner,
): Promise<InState<"claimed">> {
  const [claimed] = await harness.records.claim([id], by);
  if (!claimed) throw new Error(`${id} could not be claimed`);
  return claimed;
}

export async function insertClaimed(
  harness: RecordsHarness,
  overrides: MessageOverrides = {},
): Promise<InState<"claimed">> {
  const { id, flow } = await insert(harness, overrides);
  if (flow) await harness.flowLanes.promote(flow, [id], harness.now() + limits.grantMs);
  return claimOne(harness, id);
}

export async function inLine(
  { flowLanes }: RecordsHarness,
  lane: FlowId = tightLane,
  n = 10,
): Promise<readonly MessageId[]> {
  return (await flowLanes.heads(lane, n)).map(({ id }) => id);
}

export async function read(
  harness: RecordsHarness,
  { id, tenant }: Pick<Message, "id" | "tenant">,
): Promise<MessageRecord> {
  const [record] = await harness.records.get(tenant, [id]);
  if (!record) throw new Error(`${id} is not there`);
  return record;
}

export async function readIn<K extends StateKind>(
  harness: RecordsHarness,
  message: Pick<Message, "id" | "tenant">,
  kind: K,
): Promise<InState<K>> {
  const record = await read(harness, message);
  if (!isIn(record, kind)) throw new Error(`${message.id} is ${record.state.kind}, not ${kind}`);
  return record;
}

export async function stateOf(
  harness: RecordsHarness,
  message: Pick<Message, "id" | "tenant">,
): Promise<StateKind> {
  const { state } = await read(harness, message);
  return state.kind;
}

/** Returns the settlement that the domain decides, ended now, with neither jitter nor expression. */
export const settlementOf = (
  harness: RecordsHarness,
  record: InState<"claimed">,
  outcome: Outcome,
) =>
  settleAttempt(record, anAttempt(outcome, { endedAt: harness.now() }), {
    chance: 0,
    retryDelayMs: 10_000,
  });

export async function settle(
  harness: RecordsHarness,
  record: InState<"claimed">,
  outcome: Outcome,
): Promise<Settled> {
  const [answer] = await harness.records.settle([settlementOf(harness, record, outcome)]);
  if (!answer) throw new Error("unreachable: one settlement in, one answer out");
  return answer;
}

export const delivered = anAnswer(200, { body: "fine" });
export const refused = anAnswer(503, { headers: [["X-Why", "busy"]], body: "not now" });

/** Clears the whole outbox, as if every follow-up were safe. */
export async function clearAll(
  harness: RecordsHarness,
  message: Pick<Message, "id" | "tenant">,
): Promise<void> {
  const { outbox } = await read(harness, message);
  await harness.records.clear(
    outbox.map(({ attempt, kind }) => ({ id: message.id, attempt, item: kind })),
  );
}

export async function insertDelivered(
  harness: RecordsHarness,
  overrides: MessageOverrides = {},
): Promise<Message> {
  const record = await insertClaimed(harness, overrides);
  await settle(harness, record, delivered);
  await clearAll(harness, record.message);
  return record.message;
}

/** A generous bound: a ring moves every alarm ahead, so each round has less to do. */
const roundsMax = 100;

/** Rings once, and sorts the result by kind. */
export const ring = async (
  { alarms }: Pick<RecordPorts, "alarms">,
  ...asked: Parameters<Alarms["ring"]>
): Promise<RungByKind> => byKind(await alarms.ring(...asked));

/** Rings until nothing is due, and returns everything rung. */
export async function ringAll(
  harness: RecordsHarness,
  shards = allShards,
  limit = 500,
): Promise<RungByKind> {
  let all = noRings;
  for (let round = 0; round < roundsMax; round++) {
    const said = await ring(harness, shards, limit);
    if (rungBy(said) === 0) return all;
    all = {
      hints: [...all.hints, ...said.hints],
      lanes: [...all.lanes, ...said.lanes],
      fanOuts: [...all.fanOuts, ...said.fanOuts],
      outboxes: [...all.outboxes, ...said.outboxes],
      followUps: [...all.followUps, ...said.followUps],
      more: new Set(),
    };
  }
  throw new Error(`alarms still ring after ${roundsMax} rounds`);
}

export const noRings: RungByKind = byKind({ rung: [], more: new Set() });

export const rungBy = ({ hints, lanes, fanOuts, outboxes, followUps }: RungByKind): number =>
  hints.length + lanes.length + fanOuts.length + outboxes.length + followUps.length;

/**
 * Expects the alarm that `alarmOf` gives the record's state, entered between two readings of the store's clock. If
 * the store has made a follow-up safe in the same write, the earlier alarm of an outbox may remain.
 */
export function expectAlarm(record: MessageRecord, from: number, to: number): void {
  const hasOutbox = record.outbox.length > 0;
  const earliest = alarmOf(record.state, true, from) ?? Number.NaN;
  const latest = alarmOf(record.state, hasOutbox, to);
  if (latest === undefined) return;
  expect(record.wakeAt).toBeGreaterThanOrEqual(earliest);
  expect(record.wakeAt).toBeLessThanOrEqual(latest);
}
