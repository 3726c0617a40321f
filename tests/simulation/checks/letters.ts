/** E: a dead letter makes at most one message, and is removed only after that. N: the items of a batch are in its order. */
import { type DlqId, type MessageId } from "@posthaste/domain";
import { type Batch, type History, opOf } from "../world/history.ts";

export function checkLetters(history: History): void {
  checkRetried(history);
  checkOnce(history);
  for (const batch of history.batches) checkOrder(history, batch);
}

/** E2: every message in the answer to a retry has come into existence and to its end. */
function checkRetried(history: History): void {
  for (const { letters, made, endedAt } of history.letterRetries) {
    if (endedAt === undefined) history.violate("E2", `a retry of ${letters.join(" ")} never ended`);
    for (const id of made) {
      const isOver = history
        .appliedOf(id)
        .some(({ settlement: { next } }) => next.kind === "delivered" || next.kind === "failed");
      if (!isOver && !history.cancels.has(id))
        history.violate("E2", `${id} was made of a dead letter and has no end`);
    }
  }
}

/** E1: apart from the published messages there is at most one message for each letter. */
function checkOnce(history: History): void {
  const made = messagesByOp(history);
  for (const [op, letters] of Map.groupBy(history.lettersAsked.keys(), opOfLetter(history))) {
    const ids = made.get(op) ?? [];
    if (ids.length > 1 + letters.length)
      history.violate("E1", `op ${op}: of ${letters.length} letters there are ${ids.join(" ")}`);
  }
}

const opOfLetter =
  ({ lettersAsked }: History) =>
  (id: DlqId) =>
    lettersAsked.get(id) ?? NaN;

export function messagesByOp({ lives }: History): ReadonlyMap<number, readonly MessageId[]> {
  const made = [...lives].flatMap(([id, [first]]) =>
    first && first.record.message.origin.callbackOf === undefined
      ? [{ id, op: opOf(first.record.message) }]
      : [],
  );
  return new Map(
    [...Map.groupBy(made, ({ op }) => op)].map(([op, all]) => [op, all.map(({ id }) => id)]),
  );
}

/** N2: the items of a queue are in the store's order. */
function checkOrder(history: History, { items }: Batch): void {
  const inserted = [...history.lives.keys()];
  const places = items.flatMap(({ id, queue }) =>
    queue === undefined ? [] : [inserted.indexOf(id)],
  );
  if (places.some((place, i) => place < (places[i - 1] ?? -1)))
    history.violate("N2", `a batch stands in its queue as ${places.join(" ")}`);
}
