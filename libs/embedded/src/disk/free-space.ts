/**
 * Refuses new messages (507) while the disk is nearly full, so that accepted ones can still be delivered and logged. Looks at most once a
 * second when new work needs space, and whenever space may have been freed.
 */
import { statfsSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { type Clock, StoreError } from "@posthaste/ports";

export type Space = { readonly freeBytes: number; readonly totalBytes: number };

/** The reserved space: 5 % of the disk, between these bounds. 5 % of a large disk is no emergency. */
const reservedShare = 0.05;
const reservedBytesMin = 64 * 1024 * 1024;
const reservedBytesMax = 1024 * 1024 * 1024;
const lookEveryMs = 1_000;

export const isNearlyFull = ({ freeBytes, totalBytes }: Space): boolean =>
  freeBytes < Math.min(Math.max(reservedBytesMin, totalBytes * reservedShare), reservedBytesMax);

export type FreeSpace = {
  /** Throws `disk_full` when there is no space for new work. */
  readonly check: () => void;
  /** Looks at the disk now, and reports whether it is nearly full. */
  readonly look: () => Promise<boolean>;
  /** The result of the last look. */
  readonly isNearlyFull: () => boolean;
};

export type FreeSpaceOptions = {
  readonly clock: Clock;
  /** Reads the disk's space, without the bytes that are promised to other files. */
  readonly read: () => Promise<Space>;
  readonly first: Space;
  readonly onChange: (nearlyFull: boolean) => void;
};

export function openFreeSpace({ clock, read, first, onChange }: FreeSpaceOptions): FreeSpace {
  let nearlyFull = isNearlyFull(first);
  let lookedAt = clock.passedMs();
  let looking: Promise<boolean> | undefined;

  const lookAgain = async (): Promise<boolean> => {
    lookedAt = clock.passedMs();
    const isFull = isNearlyFull(await read());
    if (isFull !== nearlyFull) {
      nearlyFull = isFull;
      onChange(isFull);
    }
    return nearlyFull;
  };
  const look = (): Promise<boolean> =>
    (looking ??= lookAgain()
      // A disk that cannot be read counts as unchanged: the commit itself will fail.
      .catch(() => nearlyFull)
      .finally(() => (looking = undefined)));

  return {
    look,
    isNearlyFull: () => nearlyFull,
    check: () => {
      if (clock.passedMs() - lookedAt >= lookEveryMs) void look();
      if (nearlyFull)
        throw new StoreError(
          "disk_full",
          "the disk is nearly full: only accepted messages are delivered",
        );
    },
  };
}

/** Returns the space of the disk of `directory`. `promisedBytes` of the free space are promised to other files. */
export const spaceNow = (directory: string, promisedBytes: number): Space =>
  spaceOf(statfsSync(directory), promisedBytes);
export const readSpace = async (directory: string, promisedBytes: number): Promise<Space> =>
  spaceOf(await statfs(directory), promisedBytes);

const spaceOf = (
  stats: { readonly bavail: number; readonly bsize: number; readonly blocks: number },
  promisedBytes: number,
): Space => ({
  freeBytes: stats.bavail * stats.bsize - promisedBytes,
  totalBytes: stats.blocks * stats.bsize,
});
