/** C9: the promises of queues, by the calls at the destinations and the claims (F1, F2, F4 to F6), and by the rows after each step (F3). */
import {
  isFinished,
  limits,
  type MessageId,
  type MessageRecord,
  type QueueId,
} from "@posthaste/domain";
import { type Inspection } from "../model/records.ts";
import { type Exchange, type History, opOf } from "../world/history.ts";

/** Checks a written record: a message that proceeds in a queue has a turn, and there are no more turns than allowed. */
export function checkTurn(history: History, inspect: Inspection, record: MessageRecord): void {
  const { message, state } = record;
  const row = message.queue === undefined ? undefined : inspect.queues.get(message.queue);
  if (!row || isFinished(state) || state.kind === "queued") return;
  if (!row.turns.has(message.id))
    history.violate("C9", `${message.id} is ${state.kind} in ${row.lane.id} and has no turn`);
  if (row.turns.size > row.lane.parallelism)
    history.violate("C9", `${row.lane.id} has given ${row.turns.size} turns`);
}

/** Reports whether the queue's alarm covers a queued message, or the queue is paused (I3). */
export function isCovered(inspect: Inspection, queue: QueueId): boolean {
  const lane = inspect.queues.get(queue)?.lane;
  return lane !== undefined && (lane.paused || lane.wakeAt !== undefined);
}

export function checkQueues(history: History): void {
  const members = Map.groupBy(
    [...history.lives.values()].flatMap(([life]) => life?.record.message ?? []),
    ({ queue }) => queue,
  );
  const byId = Map.groupBy(history.exchanges, ({ id }) => id);
  for (const [queue, messages] of members) {
    if (queue === undefined) continue;
    history.count("queued", messages.length);
    const ids = messages.map(({ id }) => id);
    checkPauses(history, queue, ids);
    checkEnds(history, queue, ids);
    if (!history.narrowQueues.has(queue)) continue;
    checkOrder(history, queue, ids, byId);
    checkOneAtATime(history, queue, ids, byId);
    checkCallbacks(history, queue, ids, byId);
  }
}

type Exchanges = ReadonlyMap<MessageId, readonly Exchange[]>;

/** A process that was stopped, or whose clock was wrong, may have had a call on the wire beyond its lease. */
const isExcused = (history: History, { node, sentAt, endedAt }: Exchange): boolean =>
  history.explains([node], sentAt - limits.leaseMs, (endedAt ?? sentAt) + limits.leaseMs);

/** F1: a message acknowledged before a second one began is attempted before it. */
function checkOrder(
  history: History,
  queue: QueueId,
  ids: readonly MessageId[],
  byId: Exchanges,
): void {
  const accepted = acceptances(history);
  for (const before of ids) {
    const ackedAt = accepted.get(before)?.ackedAt;
    const first = byId.get(before)?.[0];
    if (ackedAt === undefined || !first) continue;
    for (const after of ids) {
      const begunAt = accepted.get(after)?.begunAt ?? -Infinity;
      const second = byId.get(after)?.[0];
      if (begunAt <= ackedAt || !second || second.sentAt >= first.sentAt) continue;
      history.violate("C9", `${queue}: ${after} was attempted before ${before}, which was ahead`);
    }
  }
}

/** A publish that shares a deduplication id may be answered with a message that another has begun, whose client has no answer. */
function acceptances(
  history: History,
): ReadonlyMap<MessageId, { readonly begunAt: number; readonly ackedAt: number }> {
  const accepted = new Map<MessageId, { begunAt: number; ackedAt: number }>();
  const begun = new Map(history.publications.map(({ op, tries }) => [op, tries[0]?.startedAt]));
  const begunAt = (op: number): number => begun.get(op) ?? Infinity;
  for (const { op, acks } of history.publications) {
    for (const { at, answers } of acks)
      for (const { id } of answers) {
        const known = accepted.get(id);
        const made = history.lives.get(id)?.[0]?.record.message;
        accepted.set(id, {
          begunAt: Math.min(
            begunAt(op),
            begunAt(made ? opOf(made) : op),
            known?.begunAt ?? Infinity,
          ),
          ackedAt: Math.min(at, known?.ackedAt ?? Infinity),
        });
      }
  }
  return accepted;
}

/** F4: no two calls at once. */
function checkOneAtATime(
  history: History,
  queue: QueueId,
  ids: readonly MessageId[],
  byId: Exchanges,
): void {
  const calls = ids.flatMap((id) => byId.get(id) ?? []).toSorted((a, b) => a.sentAt - b.sentAt);
  for (const [n, one] of calls.entries()) {
    const other = calls.slice(0, n).find(({ id, endedAt }) => {
      const isOver = (endedAt ?? Infinity) <= one.sentAt;
      return id !== one.id && !isOver;
    });
    if (other && !isExcused(history, other))
      history.violate("C9", `${queue}: ${one.id} was called while ${other.id} was`);
  }
}

/** F4: no message is attempted for the first time while a callback of a message ahead of it has not ended. */
function checkCallbacks(
  history: History,
  queue: QueueId,
  ids: readonly MessageId[],
  byId: Exchanges,
): void {
  const mine = new Set(ids);
  for (const [life] of history.lives.values()) {
    const source = life?.record.message.origin.callbackOf;
    const callback = life?.record.message.id;
    if (source === undefined || callback === undefined || !mine.has(source)) continue;
    const firstOfSource = byId.get(source)?.[0]?.sentAt ?? Infinity;
    const last = byId.get(callback)?.at(-1);
    if (!last || isExcused(history, last)) continue;
    for (const id of ids) {
      const first = byId.get(id)?.[0];
      if (!first || first.sentAt <= firstOfSource || first.sentAt >= last.sentAt) continue;
      history.violate("C9", `${queue}: ${id} was attempted before ${callback} had ended`);
    }
  }
}

/** F5: no first claim between the answer to a pause and the resume. */
function checkPauses(history: History, queue: QueueId, ids: readonly MessageId[]): void {
  for (const { lane, from, to } of history.queuePauses) {
    if (lane !== queue) continue;
    for (const id of ids) {
      const first = history.claims.get(id)?.[0];
      if (first && first.at > from && first.at < to)
        history.violate("C9", `${id} was claimed while ${queue} was paused`);
    }
  }
}

/** F6: messages acknowledged before the queue was deleted are not claimed after the answer to the deletion, and later ones are kept. */
function checkEnds(history: History, queue: QueueId, ids: readonly MessageId[]): void {
  const accepted = acceptances(history);
  for (const { lane, askedAt, answeredAt, isOnce } of history.queueEnds) {
    if (lane !== queue) continue;
    history.count("queues deleted");
    for (const id of ids) {
      const wasThere = (accepted.get(id)?.ackedAt ?? Infinity) < askedAt;
      const isLater = (accepted.get(id)?.begunAt ?? 0) > answeredAt && isOnce;
      const claimed = history.claims.get(id)?.some(({ at }) => at > answeredAt) ?? false;
      if (wasThere && claimed)
        history.violate("C9", `${id} was claimed after ${queue} was deleted`);
      if (isLater && isCanceledUnasked(history, id))
        history.violate("C9", `${id} came after ${queue} was deleted and is canceled`);
    }
  }
}

const isCanceledUnasked = (
  { askedCancels, bulkCancels, cancels }: History,
  id: MessageId,
): boolean => cancels.has(id) && !askedCancels.has(id) && bulkCancels.length === 0;
