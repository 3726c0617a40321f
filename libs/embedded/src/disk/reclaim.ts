/**
 * Gives space back to the disk. Removed messages free pages inside the file, and a checkpoint leaves the write-ahead
 * log as long as it was: neither gives the disk anything back, and while new work is refused there are hardly any
 * commits that would. So while the disk is nearly full, or most of the file is free, this loop runs.
 *
 * (1) Nothing runs, and no timer is armed, unless one of the two holds.
 * (2) While the disk is nearly full, a finished record is removed at once instead of half a minute later (I5 still
 *     holds), no body is kept, and kept bodies are removed.
 */
import { allShards, limits } from "@posthaste/domain";
import { type Clock, type Log, pause, type Records } from "@posthaste/ports";
import { type Checkpoints } from "../database/write-ahead-log.ts";
import { type Vacuum } from "../database/vacuum.ts";
import { type Writer } from "../database/writer.ts";
import { type FreeSpace } from "./free-space.ts";

export type ReclaimParts = {
  readonly clock: Clock;
  readonly log: Log;
  readonly space: Pick<FreeSpace, "look" | "isNearlyFull">;
  readonly vacuum: Vacuum;
  readonly writer: Pick<Writer, "alone">;
  readonly checkpoints: Pick<Checkpoints, "bringIn" | "empty">;
  readonly records: Pick<Records, "removeFinished">;
  readonly giveWay: (isClosed: () => boolean) => Promise<void>;
};

export type Reclaim = {
  /** Must be called when the disk has become nearly full, and when records were removed. */
  readonly wake: () => void;
  readonly close: () => Promise<void>;
};

const againMs = 1_000;
export function openReclaim(parts: ReclaimParts): Reclaim {
  const { clock, log, space, vacuum, writer, checkpoints, records, giveWay } = parts;
  let running: Promise<void> | undefined;
  const closing = new AbortController();
  const isClosed = (): boolean => closing.signal.aborted;
  const rest = (ms: number): Promise<void> => pause(clock, ms, closing.signal);

  const once = async (): Promise<void> => {
    if (space.isNearlyFull()) {
      await records.removeFinished(allShards, clock.now(), limits.sweepBatchMax, () => false);
      await giveWay(isClosed);
    }
    await vacuum.run(rest, isClosed);
    // First beside the writer: if a reader has held the log, gigabytes may be left to move.
    await checkpoints.bringIn();
    await writer.alone(() => checkpoints.empty());
    await space.look();
  };

  // Each round ends; another follows while the disk has no space.
  const goRound = async (): Promise<void> => {
    while (!isClosed() && (space.isNearlyFull() || vacuum.isWorthIt())) {
      await once();
      if (space.isNearlyFull() && !isClosed()) await rest(againMs);
    }
  };

  return {
    wake: () => {
      if (isClosed() || running || !(space.isNearlyFull() || vacuum.isWorthIt())) return;
      running = goRound()
        .catch((error: unknown) => log.warn("store.no_room_made", { error }))
        .finally(() => (running = undefined));
    },
    close: async () => {
      closing.abort();
      await running;
    },
  };
}
