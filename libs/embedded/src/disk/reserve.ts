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
};

const bytesPerWrite = 1024 * 1024;

export function openReserve(dataDir: string, bytes: number): Reserve {
  const path = join(dataDir, "reserve");
  let building: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    const unfinished = `${path}.new`;
    const file = await open(unfinished, "w", 0o600);
    try {
      const block = Buffer.alloc(bytesPerWrite, 0x5a);
      for (let written = 0; written < bytes; written += block.length) await file.write(block);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  };
  return {
    giveUp: () => {
      const there = existsSync(path);
      rmSync(path, { force: true });
      rmSync(`${path}.new`, { force: true });
      return there;
    },
    build: () => {
      if (bytes === 0 || existsSync(path)) return Promise.resolve();
      // A disk without room for it has no reserve: the check of free space still holds.
      building ??= write()
        .catch(() => undefined)
        .finally(() => (building = undefined));
      return building;
    },
  };
}
