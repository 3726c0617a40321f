/**
 * Refuses new messages while the disk is nearly full, so that what was accepted can still be delivered and written down
 * (507; reliability.md 2.1). Looks at most once a second, and only when somebody asks.
 */
import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { type Clock, StoreError } from "@posthaste/ports";

export type Space = { readonly freeBytes: number; readonly totalBytes: number };

/** 5 % of the disk, but at least this much, and never more than that: 5 % of a large disk is no emergency. */
const reservedShare = 0.05;
const reservedBytesMin = 64 * 1024 * 1024;
const reservedBytesMax = 1024 * 1024 * 1024;
const lookEveryMs = 1_000;

export const isNearlyFull = ({ freeBytes, totalBytes }: Space): boolean =>
  freeBytes < Math.min(Math.max(reservedBytesMin, totalBytes * reservedShare), reservedBytesMax);

/** Answers a check that throws `disk_full`. `look` is for tests. */
export function openFreeSpace(
  dataDir: string,
  clock: Clock,
  onChange: (nearlyFull: boolean) => void,
  look: () => Promise<Space> = async () => spaceOf(await statfs(dataDir)),
): () => void {
  let nearlyFull = isNearlyFull(spaceOf(statfsSync(dataDir)));
  let lookedAt = clock.now();
  let looking = false;

  const lookAgain = async (): Promise<void> => {
    const isFull = isNearlyFull(await look());
    if (isFull !== nearlyFull) onChange(isFull);
    nearlyFull = isFull;
  };

  return () => {
    const now = clock.now();
    if (!looking && now - lookedAt >= lookEveryMs) {
      looking = true;
      lookedAt = now;
      // A disk that cannot be asked is not known to be full: the commit itself will say.
      void lookAgain()
        .catch(() => undefined)
        .finally(() => (looking = false));
    }
    if (nearlyFull)
      throw new StoreError(
        "disk_full",
        "the disk is nearly full: what is accepted is delivered first",
      );
  };
}

const spaceOf = (stats: { bavail: number; bsize: number; blocks: number }): Space => ({
  freeBytes: stats.bavail * stats.bsize,
  totalBytes: stats.blocks * stats.bsize,
});
