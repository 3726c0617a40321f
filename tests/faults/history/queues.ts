/** Queues (C9): no more at once than a queue's parallelism, and first attempts in the order of the acknowledgements. */
import { isSuccess } from "./deliveries.ts";
import { type Ack, type Arrival, type History } from "./journal.ts";
import { planOf, type Queue, queues } from "./kinds.ts";
import { tooManyAtOnce } from "./lanes.ts";
import { violation, type Violation } from "./violation.ts";

export function queueRules({ acks, arrivals, faults }: History): readonly Violation[] {
  const ackedOf = Map.groupBy(acks, ({ kind, n }) => planOf(kind, n, "").queue);
  const byQueue = Map.groupBy(arrivals, ({ queue }) => queue);
  return [...byQueue].flatMap(([queue, unsorted]) => {
    if (queue === undefined) return [];
    const own = unsorted.toSorted((a, b) => a.at - b.at);
    return [
      ...tooManyAtOnce(queue, queues[queue], own, faults),
      ...outOfTurn(queue, ackedOf.get(queue) ?? [], own),
    ];
  });
}

/**
 * A message keeps its turn until it has been delivered. So at the first attempt of a message, all messages acknowledged before it was
 * sent have been delivered, except as many as may run beside it. No fault excuses a violation.
 */
function outOfTurn(
  queue: Queue,
  acks: readonly Ack[],
  arrivals: readonly Arrival[],
): readonly Violation[] {
  const firsts = new Map<string, number>();
  const ends = new Map<string, number>();
  for (const arrival of arrivals) {
    const { id, at, until } = arrival;
    firsts.set(id, Math.min(firsts.get(id) ?? Infinity, at));
    if (isSuccess(arrival)) ends.set(id, Math.min(ends.get(id) ?? Infinity, until));
  }
  return acks.flatMap((ack) => {
    const begunAt = firsts.get(ack.id);
    if (begunAt === undefined) return [];
    const open = acks.filter(
      ({ id, at }) => at < ack.sentAt && (ends.get(id) ?? Infinity) > begunAt,
    );
    if (open.length < queues[queue]) return [];
    return [violation("out of turn in a queue", { queue, ack, begunAt, open })];
  });
}
