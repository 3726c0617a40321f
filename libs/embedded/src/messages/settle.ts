/** Writes the end of an attempt, and clears items of the outbox (I2, I4). */
import { alarmOnEntering, eventsOf, isFinished, limits, type Settlement } from "@posthaste/domain";
import { type OutboxItemRef, type Settled } from "@posthaste/ports";
import { integer, optionalInteger } from "../database/rows.ts";
import { carryOut, end, endInQueue, isLeft } from "./consequences.ts";
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
    events,
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
    if (told) {
      if (answer) keeping.answer(position, answer);
      const tenant = tenants.take(message.tenant);
      events.toldByRow(tenant, eventsOf(told));
      end(store, position, tenant, told.endedAt, true);
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
