/** What became of the messages of a schedule's last slot: told from their records, and from the log once those are gone. */
import { type SlotState, slotStateOf } from "@posthaste/contract";
import { type LogState, type MessageId, type Schedule } from "@posthaste/domain";
import { type MessageLog, type Records } from "@posthaste/ports";

export type StatePorts = { readonly records: Records; readonly messageLog: MessageLog };

/** Events that are looked at for messages that have gone: the last ones of each. */
const eventsMax = 1_000;

/** By message id; undefined when no slot has fired yet. A message of which nothing is known any more is left out. */
export async function statesOfLastSlot(
  { records, messageLog }: StatePorts,
  { tenant, last }: Schedule,
): Promise<Readonly<Record<string, SlotState>> | undefined> {
  if (!last) return undefined;
  const standing = await records.progress(tenant, last.messages);
  const states = new Map<MessageId, SlotState>(
    last.messages.flatMap((id, i) => {
      const progress = standing[i];
      return progress ? [[id, slotStateOf(progress)]] : [];
    }),
  );
  const gone = last.messages.filter((id) => !states.has(id));
  if (gone.length > 0) {
    const page = { limit: eventsMax, order: "latestFirst" } as const;
    const { items } = await messageLog.list(tenant, { messageIds: gone }, page);
    for (const { event, message } of items)
      if (!states.has(message.id)) states.set(message.id, stateAfter(event.state));
  }
  return Object.fromEntries(last.messages.flatMap((id) => entryOf(id, states.get(id))));
}

const entryOf = (id: MessageId, state: SlotState | undefined): readonly [string, SlotState][] =>
  state === undefined ? [] : [[id, state]];

function stateAfter(state: LogState): SlotState {
  if (state === "DELIVERED") return "SUCCESS";
  return state === "FAILED" || state === "CANCELED" ? "FAIL" : "IN_PROGRESS";
}
