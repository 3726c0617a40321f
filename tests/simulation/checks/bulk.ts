/** B: when a bulk action has ended, it has cancelled everything that it was to cancel; it leaves later messages alone, and it ends. */
import { limits, type MessageId } from "@posthaste/domain";
import { bulkLabel, bulkTenant } from "../bulk-workload.ts";
import { type BulkCancel, type History } from "../world/history.ts";

type Accepted = { readonly id: MessageId; readonly begunAt: number; readonly ackedAt: number };

export function checkBulkActions(history: History): void {
  if (history.bulkCancels.length === 0) return;
  const accepted = labelled(history);
  for (const bulk of history.bulkCancels) {
    if (bulk.endedAt === undefined) history.violate("B3", `${bulk.id} never ended`);
    // The end is a time of the process that accepted the action.
    else if (isFirst(history, bulk) && !history.faults.some(({ kind }) => kind === "clock"))
      for (const message of accepted) checkDone(history, bulk, bulk.endedAt, message);
  }
  checkLater(history, accepted);
}

/** Reports whether this is the first call of its action: an equal call while the action is under way joins that one, and is as old. */
const isFirst = ({ bulkCancels }: History, { id, askedAt }: BulkCancel): boolean =>
  bulkCancels.every((other) => other.id !== id || other.askedAt >= askedAt);

/** B2: no message that was there before is sent once the action has ended. */
function checkDone(
  history: History,
  { id: action, askedAt, acceptedAt }: BulkCancel,
  endedAt: number,
  { id, ackedAt }: Accepted,
): void {
  if (ackedAt > askedAt) return;
  const late = history.exchanges.find(
    (exchange) => exchange.id === id && exchange.sentAt > endedAt,
  );
  if (late && !history.explains([late.node], acceptedAt - limits.leaseMs, late.sentAt))
    history.violate("B2", `${id} was sent ${late.sentAt - endedAt} ms after ${action} had ended`);
}

/** B1: no action cancels a message published after the last of them was accepted. */
function checkLater(history: History, accepted: readonly Accepted[]): void {
  const lastAt = Math.max(...history.bulkCancels.map(({ acceptedAt }) => acceptedAt));
  if (history.faults.some(({ kind }) => kind === "clock")) return;
  for (const { id, begunAt } of accepted) {
    const isQueued = history.lives.get(id)?.[0]?.record.message.queue !== undefined;
    const isAsked = history.askedCancels.has(id) || (isQueued && history.queueEnds.length > 0);
    if (begunAt > lastAt && history.cancels.has(id) && !isAsked)
      history.violate("B1", `${id} came after every bulk action and is canceled`);
  }
}

/** A message published again, without its first label, stays as it was first. */
function labelled({ lives, publications }: History): readonly Accepted[] {
  const accepted = new Map<MessageId, Accepted>();
  for (const { acks, command, tries } of publications) {
    if (command.tenant !== bulkTenant || !command.policy.labels?.includes(bulkLabel)) continue;
    const begunAt = tries[0]?.startedAt ?? 0;
    for (const { at, answers } of acks)
      for (const { id } of answers) {
        const record = lives.get(id)?.[0]?.record;
        if (record && !record.message.policy.labels.includes(bulkLabel)) continue;
        const known = accepted.get(id);
        accepted.set(id, {
          id,
          begunAt: Math.min(begunAt, known?.begunAt ?? Infinity),
          ackedAt: Math.min(at, known?.ackedAt ?? Infinity),
        });
      }
  }
  return [...accepted.values()];
}
