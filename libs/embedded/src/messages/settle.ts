/**
 * Writes the end of an attempt with its consequences in one transaction, and clears items of the outbox (I2, I4). The
 * consequences are dead letters, and facts, which go to the message log or to the log of their run. Callbacks, and what
 * a run makes of a failure, go into the outbox (docs/design/record#the-outbox).
 */
import {
  alarmOnEntering,
  type FollowUp,
  isFinished,
  limits,
  type Message,
  type Settlement,
  unreachable,
} from "@posthaste/domain";
import { type OutboxItemRef, type Settled } from "@posthaste/ports";
import { integer, optionalInteger } from "../database/rows.ts";
import { type CountedEvent } from "../log/events.ts";
import { columnsOf, firstFinishedCode, stateCodes } from "./records.ts";
import { type Store } from "./store.ts";

export type Settling = {
  readonly settle: (settlement: Settlement) => Settled;
  readonly clear: (item: OutboxItemRef) => void;
};

export function openSettling(store: Store): Settling {
  const {
    claimed,
    db,
    clock,
    keeping,
    names,
    lanes,
    outbox,
    writer,
    finished,
    tenants,
    turns,
    wholes,
  } = store;
  const write = db.prepare(`
    UPDATE messages SET state = ?, until = ?, hints = ?, owner = NULL, retried = ?, lease_losses = ?, deferrals = ?,
      outbox = outbox + ?, wake_at = iif(outbox + ? > 0, min(coalesce(?, ?), ?), ?)
    WHERE position = ? AND name = ? AND epoch = ? AND state = ${stateCodes.claimed}`);
  const standing = db.prepare(
    "SELECT state, epoch, told FROM messages WHERE position = ? AND name = ?",
  );
  const clear = db.prepare(`
    UPDATE messages SET outbox = outbox - 1,
      wake_at = iif(outbox = 1 AND state >= ${firstFinishedCode}, NULL, wake_at)
    WHERE position = ? RETURNING outbox, state, until, queue`);

  const missed = (position: number, name: string, epoch: number): Settled => {
    const row = standing.get(position, name);
    if (row && row["told"] !== null && !finished.standsWhole(position)) return { kind: "fenced" };
    // An earlier write of this process whose answer was lost.
    const ours =
      row && integer(row["epoch"]) === epoch && integer(row["state"]) !== stateCodes.claimed;
    return ours ? { kind: "ok", left: [] } : { kind: "fenced" };
  };

  const settle = (settlement: Settlement): Settled => {
    const { answer, message, epoch, next, retried, leaseLosses, deferrals, append } = settlement;
    const address = names.find(message.id);
    if (!address) return { kind: "fenced" };
    const { position, name } = address;
    const told = wholes.deliver(settlement, address);
    if (told && next.kind === "delivered") {
      if (answer) keeping.answer(position, answer);
      end(store, position, tenants.take(message.tenant), next.endedAt, told);
      return { kind: "ok", left: [] };
    }
    const now = clock.now();
    const { code, until, hints } = columnsOf(next);
    const n = append.reduce((count, item) => count + (isLeft(item) ? 1 : 0), 0);
    const own = alarmOnEntering(message, next, false, now) ?? null;
    const soon = now + limits.ringAheadMs;
    const { changes } = write.run(
      code, until, hints, retried, leaseLosses, deferrals, n, n, own, soon, soon, own, position, name, epoch,
    ); // oxfmt-ignore
    if (changes === 0) return missed(position, name, epoch);
    if (answer) keeping.answer(position, answer);
    if (append.length > 0) wholes.split(message, position);
    const left = append.length > 0 ? carryOut(store, message, position, append) : append;
    if (next.kind === "waiting" && message.flow !== undefined) lanes.wake(message.flow, now);
    if (!isFinished(next)) writer.onCommit(() => claimed.delete(position));
    else {
      end(store, position, tenants.take(message.tenant), next.endedAt);
      if (message.queue !== undefined || message.turnOf) endInQueue(store, message, position, now);
    }
    return { kind: "ok", left };
  };

  return {
    settle,
    clear: ({ id, attempt, item }) => {
      const address = names.find(id);
      if (!address || !outbox.remove(address.position, attempt, item)) return;
      const row = clear.get(address.position);
      if (!row || integer(row["outbox"]) > 0 || integer(row["state"]) < firstFinishedCode) return;
      const endedAt = integer(row["until"]);
      const queue = optionalInteger(row["queue"]);
      if (queue !== undefined) turns.mayBeOver(queue, address.position, clock.now());
      writer.onCommit(() => finished.add(address.position, endedAt));
    },
  };
}

/** Carries out follow-ups, and returns those left, which have gone into the outbox. For use inside a write. */
export function carryOut(
  { letters, events, outbox, runAttempts, tenants }: Store,
  message: Message,
  position: number,
  items: readonly FollowUp[],
): readonly FollowUp[] {
  const left: FollowUp[] = [];
  for (const item of items) {
    switch (item.kind) {
      case "deadLetter":
        letters.put(tenants.take(message.tenant), position, {
          ...item,
          id: item.dlqId,
          retried: item.attempt,
        });
        break;
      case "fact":
        if (message.run) runAttempts.put({ run: message.run, fact: item });
        else events.ended(tenants.take(message.tenant), position, item);
        break;
      case "callback":
      case "failureCallback":
      case "run":
        left.push(item);
        break;
      default:
        unreachable(item);
    }
  }
  if (left.length > 0) outbox.add(position, left);
  return left;
}

/**
 * Takes an ended record off the backlog, and hands it to the removal. `told`: the events that its whole row has got. For
 * use inside a write.
 */
export const end = (
  { writer, finished, backlog, claimed, events }: Store,
  position: number,
  tenant: number,
  endedAt: number,
  told?: readonly CountedEvent[],
): void =>
  writer.onCommit(() => {
    claimed.delete(position);
    finished.add(position, endedAt, told !== undefined);
    backlog.add(tenant, -1);
    if (told) events.toldByRow(tenant, told);
  });

/**
 * Updates the queue of a message, or of the message that a callback reports, when the message or callback has ended. For use inside a
 * write.
 */
export function endInQueue(
  { names, queues, turns }: Store,
  { queue, turnOf }: Message,
  position: number,
  now: number,
): void {
  const own = queue && queues.keyOf(queue);
  if (own !== undefined) {
    queues.countEnd(own);
    turns.mayBeOver(own, position, now);
  }
  const source = turnOf && names.find(turnOf.id);
  const its = turnOf && queues.keyOf(turnOf.queue);
  if (source && its !== undefined) turns.mayBeOver(its, source.position, now);
}

export const isLeft = ({ kind }: FollowUp): boolean => kind !== "deadLetter" && kind !== "fact";
