/**
 * A file that is only there to be given up: when another process has filled the disk to the last byte, its room lets
 * settles go on, so that what was delivered is not delivered again.
 */
import { existsSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";

export type Reserve = {
  /** Gives the room back to the disk. False: it was given already. */
  giveUp(): boolean;
  /** Makes the file if it is not there; in the background. Never rejects. */
  build(): Promise<void>;
  /** The room that it has yet to take: new work that took it would leave none for the reserve. */
  missingBytes(): number;
};

const bytesPerWrite = 1024 * 1024;

const pathIn = (dataDir: string): string => join(dataDir, "reserve");

/** Also before it is opened: a start may need its room. */
export function giveUpReserve(dataDir: string): boolean {
  const path = pathIn(dataDir);
  const there = existsSync(path);
  rmSync(path, { force: true });
  rmSync(`${path}.new`, { force: true });
  return there;
}

export function openReserve(dataDir: string, bytes: number): Reserve {
  const path = pathIn(dataDir);
  let written = existsSync(path) ? bytes : 0;
  let building: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    const unfinished = `${path}.new`;
    const file = await open(unfinished, "w", 0o600);
    try {
      const block = Buffer.alloc(bytesPerWrite, 0x5a);
      for (written = 0; written < bytes; written += block.length) await file.write(block);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  };
  const giveUp = (): boolean => {
    written = 0;
    return giveUpReserve(dataDir);
  };
  return {
    giveUp,
    build: () => {
      if (bytes === 0 || existsSync(path)) return Promise.resolve();
      // A disk without room for it has no reserve: the check of free space still holds.
      building ??= write()
        .catch(() => void giveUp())
        .finally(() => (building = undefined));
      return building;
    },
    missingBytes: () => Math.max(0, bytes - written),
  };
}
