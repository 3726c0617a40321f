/** Who stands first in the lines of many lanes, in few calls. */
import { type LaneId, type MessageId } from "@posthaste/domain";
import { createGather, type Gather } from "../gather.ts";
import { type Rooms } from "./rooms.ts";

export type Heads = { readonly lane: LaneId; readonly n: number };

export function createHeads(rooms: Rooms): Gather<Heads, readonly MessageId[]> {
  return createGather(async (wanted) => {
    const lengths = new Map<LaneId, number>();
    for (const { lane, n } of wanted) lengths.set(lane, Math.max(n, lengths.get(lane) ?? 1));
    const lines = new Map<LaneId, readonly MessageId[]>();
    // Ends: a page has room for the longest line wanted, so a full one completes at least one.
    while (lengths.size > 0) {
      const ns = [...lengths.values()];
      const sum = ns.reduce((total, n) => total + n, 0);
      const limit = Math.max(...ns, Math.min(sum, headsPerPageMax));
      const page = await readPage(rooms, [...lengths.keys()], limit);
      for (const [lane, line] of page) lines.set(lane, line);
      if (sumOf(page) < limit) break;
      // A full page may have ended inside its last line.
      const last = [...page.keys()].at(-1);
      for (const [lane, line] of page)
        if (lane !== last || line.length >= (lengths.get(lane) ?? 1)) lengths.delete(lane);
    }
    return wanted.map(({ lane, n }) => (lines.get(lane) ?? []).slice(0, n));
  });
}

const headsPerPageMax = 5_000;

const sumOf = (page: ReadonlyMap<LaneId, readonly MessageId[]>): number =>
  [...page.values()].reduce((sum, line) => sum + line.length, 0);

/** Lane by lane, each in order. */
async function readPage(
  { again, messages }: Rooms,
  lanes: readonly LaneId[],
  limit: number,
): Promise<ReadonlyMap<LaneId, readonly MessageId[]>> {
  const found = await again(() =>
    messages
      .find({ lane: { $in: [...lanes] }, state: "waiting" }, { projection: { lane: 1 } })
      .sort({ lane: 1, state: 1, place: 1, _id: 1 })
      .limit(limit)
      .toArray(),
  );
  const page = new Map<LaneId, MessageId[]>();
  for (const { _id, lane } of found) {
    if (lane === undefined) continue;
    const line = page.get(lane) ?? [];
    line.push(_id);
    page.set(lane, line);
  }
  return page;
}
