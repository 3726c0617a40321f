/** Sweeps what is older than a time in commits of a bounded size, so that other writes come between. */
import { portionOf } from "@posthaste/domain";
import { integer, type Row } from "../database/rows.ts";
import { type Writer } from "../database/writer.ts";

export type Sweep = {
  /** Reports whether there is anything to sweep, without a write. */
  readonly isDue: (tenant: number, before: number) => boolean;
  /** Sweeps at most about `limit`, and frees no more bytes than one commit may. Returns how many. For use inside a write. */
  readonly sweep: (tenant: number, before: number, limit: number) => number;
};

/** Ends when nothing is old enough, or at `limit`. */
export async function sweepInCommits(
  writer: Writer,
  { isDue, sweep }: Sweep,
  perCommitMax: number,
  [tenant, before, limit]: readonly [tenant: number | undefined, before: number, limit: number],
): Promise<number> {
  let swept = 0;
  while (tenant !== undefined && swept < limit && isDue(tenant, before)) {
    const portion = Math.min(limit - swept, perCommitMax);
    swept += await writer.write(() => sweep(tenant, before, portion), "accepted");
  }
  return swept;
}

/** Bytes of bodies removed per commit. Removing a body walks through its pages, while nothing else runs. */
const freedBytesMax = 16 * 1024 * 1024;

/** Returns the first rows, as many as one commit may free by their `bytes`. */
export const freedTogether = (rows: readonly Row[]): readonly Row[] =>
  portionOf(rows, (row) => integer(row["bytes"]), { bytesMax: freedBytesMax });
