/** What a settle makes safe in its own transaction: dead letters and facts. Only callbacks are left for later (decisions.md 1). */
import { type FollowUp, type Message, unreachable } from "@posthaste/domain";
import { type Rooms } from "./rooms.ts";

/** Inside a write. Answers what is left, which has gone into the outbox. */
export function carryOut(
  { letters, events, outbox, tenants }: Rooms,
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
        // Parents of group publishes appear in no log (decisions.md 10).
        if (!message.fanOut) events.ended(tenants.take(message.tenant), position, item);
        break;
      case "callback":
      case "failureCallback":
        left.push(item);
        break;
      default:
        unreachable(item);
    }
  }
  if (left.length > 0) outbox.add(position, left);
  return left;
}

/** Inside a write: the record counts no more, and goes in its time. */
export const end = (
  { writer, finished, backlog }: Rooms,
  position: number,
  tenant: number,
  endedAt: number,
): void =>
  writer.onCommit(() => {
    finished.add(position, endedAt);
    backlog.add(tenant, -1);
  });

export const isCallback = ({ kind }: FollowUp): boolean =>
  kind === "callback" || kind === "failureCallback";
