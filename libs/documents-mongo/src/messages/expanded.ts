/** How far the parent of a group publish is expanded, and its end (decisions.md 10). */
import { alarmOf, type GroupChunkId, type MessageId } from "@posthaste/domain";
import { type Rooms } from "./rooms.ts";
import { stateWrite } from "./stored.ts";

export type Expanded = (
  parent: MessageId,
  from: number,
  upTo: number,
  done: boolean,
) => Promise<boolean>;

export function createExpanded({ again, messages, clock, token }: Rooms): Expanded {
  return async (parent, from, upTo, done) => {
    const now = clock.now();
    const changedBy = token();
    const state = done
      ? ({ kind: "expanded", endedAt: now } as const)
      : ({ kind: "expanding", upTo } as const);
    const { $set, $unset } = stateWrite(state, alarmOf(state, false, now), now);
    const update = { $set: { ...$set, changedBy }, $unset };
    const filter = { _id: parent, state: "expanding", upTo: from } as const;
    const { matchedCount } = await again(() => messages.updateOne(filter, update));
    if (matchedCount === 1) return true;
    // Ours, when the answer to an earlier try was lost.
    return (await again(() => messages.countDocuments({ _id: parent, changedBy }))) === 1;
  };
}

/** Which of `chunks` some unexpanded parent refers to. */
export function createReferred({
  again,
  messages,
}: Rooms): (chunks: readonly GroupChunkId[]) => Promise<ReadonlySet<GroupChunkId>> {
  return async (chunks) => {
    if (chunks.length === 0) return new Set();
    const field = "message.fanOut.chunks";
    const filter = { [field]: { $in: [...chunks] }, state: "expanding" as const };
    const found = await again(() =>
      messages.find(filter, { projection: { [field]: 1 } }).toArray(),
    );
    return new Set(found.flatMap(({ message }) => message.fanOut?.chunks ?? []));
  };
}
