/** The states of the messages of a schedule's last slot, from their records, and from the log once those are removed. */
import { type SlotState, slotStateOf } from "@posthaste/contract";
import { type LogState, type MessageId, type Schedule } from "@posthaste/domain";
import { type Reads } from "./reads.ts";

/** The number of events looked at for messages without a record, latest first. */
const eventsMax = 1_000;

/** Returns states by message id; undefined when no slot has fired yet. Unknown messages are left out. */
export async function statesOfLastSlot(
  { log, progress }: Pick<Reads, "log" | "progress">,
  { tenant, last }: Schedule,
): Promise<Readonly<Record<string, SlotState>> | undefined> {
  if (!last) return undefined;
  const standing = await progress(tenant, last.messages);
  const states = new Map<MessageId, SlotState>(
    last.messages.flatMap((id, i) => {
      const own = standing[i];
      return own ? [[id, slotStateOf(own)]] : [];
    }),
  );
  let left = eventsMax;
  // Each turn except the last finds at least one message's state.
  for (let isMore = true; isMore && left > 0;) {
    const gone = last.messages.filter((id) => !states.has(id));
    if (gone.length === 0) break;
    const page = { limit: left, order: "latestFirst", bodyBytesMax: 0 } as const;
    const { items, next } = await log(tenant, { messageIds: gone }, page);
    for (const { event, message } of items)
      if (!states.has(message.id)) states.set(message.id, stateAfter(event.state));
    left -= items.length;
    isMore = items.length > 0 && next !== undefined;
  }
  return Object.fromEntries(last.messages.flatMap((id) => entryOf(id, states.get(id))));
}

const entryOf = (id: MessageId, state: SlotState | undefined): readonly [string, SlotState][] =>
  state === undefined ? [] : [[id, state]];

function stateAfter(state: LogState): SlotState {
  if (state === "DELIVERED") return "SUCCESS";
  return state === "FAILED" || state === "CANCELED" ? "FAIL" : "IN_PROGRESS";
}
