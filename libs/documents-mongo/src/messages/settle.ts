/** Ends attempts (I2, I4). The outbox holds the follow-ups, and the caller gets all of them to work. */
import {
  alarmAfter,
  type Answer,
  eventsOf,
  flowOf,
  type FollowUp,
  isFinished,
  type MessageId,
  owedToLog,
  ownFactOf,
  type Settlement,
} from "@posthaste/domain";
import { type Settled, StoreError } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { reporting } from "../writes/committed.ts";
import { createGather, type Gather } from "../writes/gather.ts";
import { toldBy } from "../message-log/rows.ts";
import { wakeQueues } from "../queues/alarms.ts";
import { enter } from "../lanes/lanes.ts";
import { type Store } from "./store.ts";
import { type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "../writes/write-all.ts";

export function createSettle(store: Store): Gather<Settlement, Settled> {
  let lastBatch = 0;
  const settleAll = async (settlements: readonly Settlement[]): Promise<readonly Settled[]> => {
    lastBatch = settlements.length;
    const others = settlements.filter((each) => !isWhole(each));
    // The `admit` of a queue's alarm may come before the end of its turn; it sets the alarm again, at most 30 s ahead.
    const [unsure, settled] = await Promise.all([
      settleWhole(store, settlements.filter(isWhole)),
      settleEach(store, others),
      wakeQueues(
        store,
        settlements.flatMap(({ message, next }) => (isFinished(next) ? message : [])),
      ),
    ]);
    const settledLater = await settleEach(store, unsure);
    const verdictOf = (each: Settlement): Verdict =>
      settled.get(each) ?? settledLater.get(each) ?? wholeVerdictOf(each);
    await enter(
      store,
      others.flatMap(({ message, next }) => {
        const flow = next.kind === "waiting" ? flowOf(message) : undefined;
        return flow ? { flow, wakes: true, setsLimits: false } : [];
      }),
    );
    return settlements.map((each) => {
      const verdict = verdictOf(each);
      if (verdict === "told") countOwn(store, each);
      return verdict === "told" ? nothingLeft : withOwed(each, verdict);
    });
  };
  return createGather(reporting(settleAll, store.committed), {
    bytesOf: ({ answer, append }) =>
      append.reduce((sum, item) => sum + bytesOf(item), answer?.length ?? 0),
    // Only under load: no caller waits for a settle, and one statement for many records costs little more than for one.
    linger: () => (lastBatch >= busyBatch ? store.pause(lingerMs) : undefined),
  });
}

const busyBatch = 32;
const lingerMs = 5;

/** `told`: the record is its own row of the log. */
type Verdict = Settled | "told";

const wholeVerdictOf = (settlement: Settlement): Verdict =>
  ownFactOf(settlement) ? "told" : nothingLeft;

function countOwn({ counts }: Store, settlement: Settlement): void {
  const fact = ownFactOf(settlement);
  for (const event of fact ? eventsOf(fact) : []) counts?.add(settlement.message.tenant, event);
}

const allLeft = ({ append: left }: Settlement): Settled => ({ kind: "ok", left });
const nothingLeft: Settled = { kind: "ok", left: [] };

/** Adds the delivery that the caller must write to the log: it is in no outbox, so no fact reports it, whichever write has ended it. */
function withOwed(settlement: Settlement, settled: Settled): Settled {
  if (settled.kind !== "ok" || settled.left.length > 0) return settled;
  const owed = owedToLog(settlement);
  return owed ? { ...settled, owed } : settled;
}

const isWhole = (settlement: Settlement): boolean =>
  settlement.next.kind === "delivered" &&
  (settlement.append.length === 0 || owedToLog(settlement) !== undefined);

/**
 * Ends many records in one statement for each epoch, with empty outboxes. Returns the settlements that may not be
 * written: if a statement matches fewer records than it names, the missing ones are not known.
 */
async function settleWhole(
  store: Store,
  settlements: readonly Settlement[],
): Promise<readonly Settlement[]> {
  const statements = Map.groupBy(settlements, ({ epoch }) => epoch);
  const unsure = await Promise.all(
    [...statements.values()].map(async (alike) => {
      const matched = await endThese(store, alike);
      return matched === alike.length ? [] : alike;
    }),
  );
  return unsure.flat();
}

/** Ends records in one statement, which contains a table with the values of each. */
async function endThese(
  { again, messages, clock }: Store,
  alike: readonly Settlement[],
): Promise<number> {
  const sorted = alike.toSorted(byId);
  const ids = sorted.map(({ message }) => message.id);
  const now = clock.now();
  const { $unset } = stateWrite({ kind: "delivered", endedAt: now }, undefined, now);
  const place = { $indexOfArray: [{ $literal: ids }, "$_id"] };
  const own = { $arrayElemAt: [{ $literal: sorted.map(endOf) }, place] };
  const update = [
    { $replaceWith: { $mergeObjects: ["$$ROOT", own] } },
    { $unset: Object.keys($unset) },
  ];
  const { matchedCount } = await again(() => messages.updateMany(isClaimed(alike), update));
  return matchedCount;
}

function endOf(settlement: Settlement): Partial<StoredRecord> {
  const { answer, message, next } = settlement;
  const endedAt = next.kind === "delivered" ? next.endedAt : 0;
  const fact = ownFactOf(settlement);
  const sweptBy = fact ? "toldSweepAt" : owedToLog(settlement) ? "owedSweepAt" : "sweepAt";
  return {
    ...{ state: "delivered", endedAt, [sweptBy]: endedAt },
    ...{ leaseLosses: 0, deferrals: 0 },
    ...(fact && { told: toldBy(message, fact) }),
    ...(answer && { answer }),
  };
}

/** Matches records of one epoch that are still claimed and have no outbox. */
function isClaimed(alike: readonly Settlement[]) {
  // Sorted, so that two concurrent statements cannot deadlock.
  const ids: readonly MessageId[] = alike.map(({ message }) => message.id).sort();
  const [first] = alike;
  return {
    _id: { $in: [...ids] },
    epoch: first?.epoch ?? 0,
    state: "claimed" as const,
    outbox: { $size: 0 },
  };
}

/**
 * Writes each settlement by itself, and finds out why some matched no record. A record that is still claimed at its
 * epoch is not fenced: the server has refused or lost the statement that named it, so its settlement is written
 * again, alone.
 */
async function settleEach(
  store: Store,
  settlements: readonly Settlement[],
): Promise<ReadonlyMap<Settlement, Verdict>> {
  const settled = new Map<Settlement, Verdict>();
  let left = settlements;
  for (let round = 0; left.length > 0; round++) {
    if (round === roundsMax)
      throw new StoreError("unavailable", `${left.length} settlements were not written`);
    const met = round === 0 ? await writeTogether(store, left) : await writeAlone(store, left);
    const verdicts = met ? left.map(allLeft) : await verdictsOf(store, left);
    for (const [n, each] of left.entries()) {
      const verdict = verdicts[n];
      if (verdict && verdict !== "unwritten") settled.set(each, verdict);
    }
    left = left.filter((each) => !settled.has(each));
  }
  return settled;
}

const roundsMax = 3;

async function writeTogether(store: Store, settlements: readonly Settlement[]): Promise<boolean> {
  const { matched } = await writeSettlements(store, settlements.toSorted(byId));
  return matched === settlements.length;
}

async function writeAlone(store: Store, settlements: readonly Settlement[]): Promise<boolean> {
  let matched = 0;
  for (const each of settlements) matched += (await writeSettlements(store, [each])).matched;
  return matched === settlements.length;
}

const byId = (a: Settlement, b: Settlement): number => (a.message.id < b.message.id ? -1 : 1);

const bytesOf = ({ response }: FollowUp): number => response?.body.length ?? 0;

async function writeSettlements(
  { again, messages, clock }: Store,
  settlements: readonly Settlement[],
): Promise<{ readonly matched: number }> {
  const now = clock.now();
  let left = settlements;
  let matched = 0;
  // A document holds 16 MiB, which large answers may exceed.
  for (const write of [settling, settlingWithoutAnswers]) {
    const operations = left.map((each) => write(each, now));
    const written = await writeAll(again, messages, operations);
    matched += written.matched;
    left = left.filter((_, n) => written.refused.has(n));
    if (left.length === 0) return { matched };
  }
  throw new Error(`${left.length} settlements were refused`);
}

function settling(settlement: Settlement, now: number) {
  const { answer, message, epoch, next, append } = settlement;
  const { retried, leaseLosses, deferrals } = settlement;
  const { source, wakeAt } = alarmAfter(settlement, now);
  const { $set, $unset } = stateWrite(next, wakeAt, now, source);
  const filter = { _id: message.id, epoch, state: "claimed" } as const;
  const update = {
    $set: { ...$set, retried, leaseLosses, deferrals, ...(answer && { answer }) },
    $unset,
    ...(append.length > 0 && { $push: { outbox: { $each: [...append] } } }),
  };
  return { updateOne: { filter, update } };
}

type Write = AnyBulkWriteOperation<StoredRecord>;

function settlingWithoutAnswers({ answer: _, append, ...rest }: Settlement, now: number): Write {
  return settling({ ...rest, append: append.map(withoutAnswer) }, now);
}

const withoutAnswer = <T extends FollowUp>(item: T): T =>
  item.response ? { ...item, response: withoutBody(item.response) } : item;

const withoutBody = (answer: Answer): Answer => ({
  ...answer,
  body: new Uint8Array(),
  truncated: true,
});

/** Tells apart settlements that are fenced, that an earlier try wrote whose reply was lost, and that are not written. */
async function verdictsOf(
  { again, messages }: Store,
  settlements: readonly Settlement[],
): Promise<readonly (Verdict | "unwritten")[]> {
  const ids: readonly MessageId[] = settlements.map(({ message }) => message.id);
  const found = await again(() =>
    messages
      .find(
        { _id: { $in: [...ids] } },
        {
          projection: {
            ...{ epoch: 1, state: 1, "told.place": 1 },
            ...{ "outbox.attempt": 1, "outbox.kind": 1 },
          },
        },
      )
      .toArray(),
  );
  const standing = new Map(found.map((stored) => [stored._id, stored]));
  return settlements.map(({ message, epoch, append }) => {
    const stored = standing.get(message.id);
    if (stored?.epoch !== epoch) return { kind: "fenced" };
    if (stored.state === "claimed") return "unwritten";
    if (stored.told) return "told";
    const still = new Set(stored.outbox.map(nameOf));
    return { kind: "ok", left: append.filter((item) => still.has(nameOf(item))) };
  });
}

const nameOf = ({ attempt, kind }: Pick<FollowUp, "attempt" | "kind">): string =>
  `${attempt} ${kind}`;
