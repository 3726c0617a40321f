/** Reads parts of runs: one by its name, or entries of the history by their ranks. */
import {
  type HistoryEntry,
  type InRun,
  limits,
  type MessageId,
  type Run,
  runMessageId,
  type RunPart,
  wantedOf,
} from "@posthaste/domain";
import { type BriefFor, type Briefing } from "@posthaste/ports";
import { integer, text } from "../database/rows.ts";
import { type Writer } from "../database/writer.ts";
import { type Store } from "../messages/store.ts";
import { bodyOf, partColumns, partFrom, positionOfRun } from "./rows.ts";

/**
 * Returns the entries from one rank to another. Ends once `bytesMax` is reached, after at least one entry, and at a
 * missing entry: a sweep removes a long run in portions, and entries after a gap are no history.
 */
type Between = (
  root: MessageId,
  from: number,
  to: number,
  bytesMax: number,
) => readonly HistoryEntry[];

export function openParts({ db }: Pick<Store, "db">) {
  const named = db.prepare(`SELECT ${partColumns} FROM run_parts WHERE run = ? AND name = ?`);
  const ranked = db.prepare(`
    SELECT name, rank, crc, bytes FROM run_parts WHERE run = ? AND rank BETWEEN ? AND ? ORDER BY rank`);
  const between: Between = (root, from, to, bytesMax) => {
    const entries: HistoryEntry[] = [];
    let bytes = 0;
    for (const row of ranked.iterate(positionOfRun(root), from, to)) {
      if (integer(row["rank"]) !== from + entries.length) break;
      const body = bodyOf(row);
      entries.push({ messageId: runMessageId(root, text(row["name"])), body });
      bytes += body.length;
      if (bytes >= bytesMax) break;
    }
    return entries;
  };
  return {
    part: (run: number, name: string): RunPart | undefined => {
      const row = named.get(run, name);
      return row && partFrom(row);
    },
    between,
  };
}

/** Reads a long history in several glances, so that the work of other callers runs between them. */
export async function brief(
  writer: Pick<Writer, "glance">,
  find: (run: InRun) => Run | undefined,
  between: Between,
  deliveries: readonly BriefFor[],
): Promise<readonly Briefing[]> {
  let bytes = 0;
  const begun = await writer.glance(() =>
    deliveries.map(({ run, epoch, from }): Briefing => {
      const wanted = wantedOf(find(run), run, epoch);
      if (typeof wanted === "string") return wanted;
      const bytesLeft = limits.runReadBytesMax - bytes;
      const entries = bytesLeft > 0 ? between(run.root, from, wanted.rank, bytesLeft) : [];
      for (const { body } of entries) bytes += body.length;
      return { ...wanted, entries };
    }),
  );
  const briefings: Briefing[] = [];
  for (const [i, { from, run }] of deliveries.entries()) {
    const briefing = begun[i] ?? "unwanted";
    briefings.push(
      typeof briefing === "string" ? briefing : await completed(briefing, run.root, from),
    );
  }
  return briefings;

  async function completed(
    { entries: first, rank }: Exclude<Briefing, string>,
    root: MessageId,
    from: number,
  ): Promise<Briefing> {
    const entries = [...first];
    while (from + entries.length <= rank) {
      const next = from + entries.length;
      const more = await writer.glance(() => between(root, next, rank, limits.runReadBytesMax));
      // The run was swept meanwhile, so nothing of it is delivered any more.
      if (more.length === 0) return "unwanted";
      entries.push(...more);
    }
    return { rank, entries };
  }
}
