/** Reads the first records in the lines of many lanes, in few calls. */
import { type FlowId } from "@posthaste/domain";
import { type Hint } from "@posthaste/ports";
import { createGather, type Gather } from "../writes/gather.ts";
import { inOneReply, type Store } from "../messages/store.ts";
import { hintFields, hintFrom } from "../messages/stored.ts";

export type Heads = { readonly lane: FlowId; readonly n: number };

/** Reads many short lines together. A page might hold one long line only, so long lines are read one by one. */
export function createHeads(store: Store): Gather<Heads, readonly Hint[]> {
  return createGather(async (wanted) => {
    const left = new Map<FlowId, number>();
    for (const { lane, n } of wanted) left.set(lane, Math.max(n, left.get(lane) ?? 1));
    const lines = new Map<FlowId, readonly Hint[]>();
    const add = (read: Lines): void => read.forEach((line, lane) => lines.set(lane, line));

    for (let pays = true; pays && left.size > 1;) {
      const read = await readTogether(store, left);
      add(read.lines);
      pays = read.complete.length * paysFrom >= left.size;
      for (const lane of read.complete) left.delete(lane);
    }
    const alone = [...left];
    // Bounded by the batch.
    while (alone.length > 0) {
      const some = alone.splice(0, atOnceMax);
      const read = await Promise.all(some.map(([lane, n]) => readLines(store, [lane], n)));
      read.forEach(add);
    }
    return wanted.map(({ lane, n }) => (lines.get(lane) ?? []).slice(0, n));
  });
}

/** Another page is worth its call while each completes an eighth of the lines that are left. */
const paysFrom = 8;
const atOnceMax = 8;
const pageMin = 1_000;

type Lines = ReadonlyMap<FlowId, readonly Hint[]>;

async function readTogether(
  store: Store,
  wanted: ReadonlyMap<FlowId, number>,
): Promise<{ readonly lines: Lines; readonly complete: readonly FlowId[] }> {
  const limit = Math.max(pageMin, ...wanted.values());
  const lanes = [...wanted.keys()];
  const lines = await readLines(store, lanes, limit);
  const rows = [...lines.values()].reduce((sum, line) => sum + line.length, 0);
  if (rows < limit) return { lines, complete: lanes };
  const found = [...lines.keys()];
  const last = found.at(-1);
  const isComplete = (lane: FlowId): boolean =>
    lane !== last || (lines.get(lane)?.length ?? 0) >= (wanted.get(lane) ?? 1);
  return { lines, complete: found.filter(isComplete) };
}

async function readLines(
  { again, messages }: Store,
  lanes: readonly FlowId[],
  limit: number,
): Promise<Lines> {
  const found = await again(() =>
    messages
      .find(
        { lane: { $in: [...lanes] }, state: "waiting" },
        { ...inOneReply, projection: { ...hintFields, lane: 1 } },
      )
      .sort({ lane: 1, state: 1, place: 1, _id: 1 })
      .limit(limit)
      .toArray(),
  );
  const lines = new Map<FlowId, Hint[]>();
  for (const { lane, ...stored } of found) {
    if (lane === undefined) continue;
    const line = lines.get(lane) ?? [];
    line.push(hintFrom(stored));
    lines.set(lane, line);
  }
  return lines;
}
