/** The write that ends an attempt (I2, I4): what it causes stands in the outbox and is left to the caller, all of it. */
import {
  type Answer,
  flowOf,
  type FollowUp,
  isFinished,
  type MessageId,
  type Settlement,
} from "@posthaste/domain";
import { type Settled } from "@posthaste/ports";
import { type AnyBulkWriteOperation } from "mongodb";
import { told } from "../committed.ts";
import { createGather, type Gather } from "../gather.ts";
import { wakeQueues } from "../queues/alarms.ts";
import { enter } from "./lanes.ts";
import { type Rooms } from "./rooms.ts";
import { type StoredRecord, stateWrite } from "./stored.ts";
import { writeAll } from "./writes.ts";

export function createSettle(rooms: Rooms): Gather<Settlement, Settled> {
  const settleAll = async (settlements: readonly Settlement[]): Promise<readonly Settled[]> => {
    const { matched } = await writeSettlements(rooms, settlements);
    await enter(
      rooms,
      settlements.flatMap(({ message, next }) => {
        const flow = next.kind === "waiting" ? flowOf(message) : undefined;
        return flow ? { flow, wakes: true, setsLimits: false } : [];
      }),
    );
    await wakeQueues(
      rooms,
      settlements.flatMap(({ message, next }) => (isFinished(next) ? message : [])),
    );
    if (matched === settlements.length)
      return settlements.map(({ append: left }) => ({ kind: "ok", left }));
    return judge(rooms, settlements);
  };
  return createGather(told(settleAll, rooms.committed), {
    bytesOf: ({ append }) => append.reduce((sum, item) => sum + bytesOf(item), 0),
  });
}

const bytesOf = ({ response }: FollowUp): number => response?.body.length ?? 0;

async function writeSettlements(
  { again, messages, clock }: Rooms,
  settlements: readonly Settlement[],
): Promise<{ readonly matched: number }> {
  const now = clock.now();
  const write = (given: readonly Settlement[]) =>
    writeAll(
      again,
      messages,
      given.map((settlement) => settling(settlement, now)),
    );
  const { matched, refused } = await write(settlements);
  if (refused.size === 0) return { matched };
  // A document holds 16 MiB: a large body beside many answers that are not worked off. The answers' bodies give way.
  const cut = await write(settlements.filter((_, n) => refused.has(n)).map(withoutBodies));
  if (cut.refused.size > 0) throw new Error(`${cut.refused.size} settlements were refused`);
  return { matched: matched + cut.matched };
}

function settling(settlement: Settlement, now: number): AnyBulkWriteOperation<StoredRecord> {
  const { message, epoch, next, wakeAt, source, append } = settlement;
  const { retried, leaseLosses, deferrals } = settlement;
  const { $set, $unset } = stateWrite(next, wakeAt, now, source);
  const filter = { _id: message.id, epoch, state: "claimed" } as const;
  const update = {
    $set: { ...$set, retried, leaseLosses, deferrals },
    $unset,
    ...(append.length > 0 && { $push: { outbox: { $each: [...append] } } }),
  };
  return { updateOne: { filter, update } };
}

const withoutBodies = (settlement: Settlement): Settlement => ({
  ...settlement,
  append: settlement.append.map((item) =>
    item.response ? { ...item, response: withoutBody(item.response) } : item,
  ),
});
const withoutBody = (answer: Answer): Answer => ({
  ...answer,
  body: new Uint8Array(),
  truncated: true,
});

/** Not all have met their condition: which are fenced, and which are our own earlier writes, whose answer was lost. */
async function judge(
  { again, messages }: Rooms,
  settlements: readonly Settlement[],
): Promise<readonly Settled[]> {
  const ids: readonly MessageId[] = settlements.map(({ message }) => message.id);
  const found = await again(() =>
    messages
      .find(
        { _id: { $in: [...ids] } },
        { projection: { epoch: 1, state: 1, "outbox.attempt": 1, "outbox.kind": 1 } },
      )
      .toArray(),
  );
  const standing = new Map(found.map((stored) => [stored._id, stored]));
  return settlements.map(({ message, epoch, append }) => {
    const stored = standing.get(message.id);
    if (stored?.epoch !== epoch || stored.state === "claimed") return { kind: "fenced" };
    const still = new Set(stored.outbox.map(nameOf));
    return { kind: "ok", left: append.filter((item) => still.has(nameOf(item))) };
  });
}

const nameOf = ({ attempt, kind }: Pick<FollowUp, "attempt" | "kind">): string =>
  `${attempt} ${kind}`;
