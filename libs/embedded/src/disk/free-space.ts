/**
 * Refuses new messages while the disk is nearly full, so that what was accepted can still be delivered and written down
 * (507). Looks at most once a second, when new work asks for room, and whenever room may have come back.
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

export type FreeSpace = {
  /** Throws `disk_full` when there is no room for new work. */
  readonly check: () => void;
  /** Looks now, and answers what it saw. */
  readonly look: () => Promise<boolean>;
  /** As it was seen last. */
  readonly isNearlyFull: () => boolean;
};

export type FreeSpaceOptions = {
  readonly clock: Clock;
  /** Of the disk, by what is free and not promised to anything else. */
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
      // A disk that cannot be asked is not known to have changed: the commit itself will say.
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
          "the disk is nearly full: what is accepted is delivered first",
        );
    },
  };
}

/** `promisedBytes`: room that is free and yet spoken for. */
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
