/**
 * The consequences that a settle writes in its own transaction: dead letters, and facts, which go to the message log or to the log of
 * their run. Callbacks, and what a run makes of a failure, go into the outbox (docs/design/record#the-outbox).
 */
import { type FollowUp, type Message, unreachable } from "@posthaste/domain";
import { type Store } from "./store.ts";

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

/** Takes an ended record off the backlog, and hands it to the removal. For use inside a write. */
export const end = (
  { writer, finished, backlog, claimed }: Store,
  position: number,
  tenant: number,
  endedAt: number,
  isWhole = false,
): void =>
  writer.onCommit(() => {
    claimed.delete(position);
    finished.add(position, endedAt, isWhole);
    backlog.add(tenant, -1);
  });

/**
 * Updates the queue of a message, or of the message that a callback tells of, when the message or callback has ended. For use inside a
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
