/**
 * The reserve: a file that exists only to be given up. When another process has filled the disk to the last byte, its space lets settles
 * continue, so that delivered messages are not delivered again.
 */
import { existsSync, rmSync } from "node:fs";
import { open, rename } from "node:fs/promises";
import { join } from "node:path";

export type Reserve = {
  /** Gives the reserve's space back to the disk. Returns false when that was done already. */
  giveUp(): boolean;
  /** Makes the file in the background where it is missing. Never rejects. */
  build(): Promise<void>;
  /** Bytes that the file has yet to take. New work that took them would leave no space for the reserve. */
  missingBytes(): number;
};

const bytesPerWrite = 1024 * 1024;

const pathIn = (dataDir: string): string => join(dataDir, "reserve");

/** Gives up the reserve also before the store is opened, since a start may need its space. */
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
      // A disk without space for the reserve gets none; the check of free space still holds.
      building ??= write()
        .catch(() => void giveUp())
        .finally(() => (building = undefined));
      return building;
    },
    missingBytes: () => Math.max(0, bytes - written),
  };
}
