/**
 * Giving free pages back to the disk: from the file's end, in steps each of which is a short transaction, so that nothing
 * else waits for long. How long a step takes depends on how many pages are free (SQLite looks for each of them in a
 * list), so its size follows what the last one took.
 */
import { type DatabaseSync } from "node:sqlite";
import { integer } from "./rows.ts";
import { type Writer } from "./writer.ts";

const stepMsMax = 4;
const pagesPerStepMin = 16;
const pagesPerStepMax = 1_024;
/** Between two steps other work has its turns. */
const pauseMs = 5;

/** Half of it, and enough to be worth it: what is free is used again before the file grows. */
const freeShareMin = 0.5;
const freePagesMin = 4_096;

export type Vacuum = {
  /** Most of the file is free. */
  readonly isWorthIt: () => boolean;
  /** Ends when nothing is free any more, or when `stopped` says so. */
  readonly run: (pause: (ms: number) => Promise<void>, stopped: () => boolean) => Promise<void>;
};

export function openVacuum(db: DatabaseSync, writer: Pick<Writer, "write">): Vacuum {
  const freePages = pragma(db, "freelist_count");
  const pages = pragma(db, "page_count");
  // A file of another making keeps its pages, and uses them again.
  const canShrink = pragma(db, "auto_vacuum")() === incremental;

  const step = (count: number): number => {
    const begunAt = performance.now();
    db.exec(`PRAGMA incremental_vacuum(${count})`);
    return performance.now() - begunAt;
  };

  return {
    isWorthIt: () => {
      if (!canShrink) return false;
      const free = freePages();
      return free >= freePagesMin && free >= pages() * freeShareMin;
    },
    run: async (pause, stopped) => {
      let count = pagesPerStepMin;
      // Each step gives back at least one of the pages that are free; other writes may free more meanwhile.
      while (canShrink && !stopped() && freePages() > 0) {
        const tookMs = await writer.write(() => step(count), "redoable");
        const next = tookMs > stepMsMax ? count / 2 : tookMs < stepMsMax / 4 ? count * 2 : count;
        count = Math.max(1, Math.min(Math.floor(next), pagesPerStepMax));
        await pause(pauseMs);
      }
    },
  };
}

/** What `PRAGMA auto_vacuum` answers of a file whose pages go when we ask for it. */
const incremental = 2;

function pragma(db: DatabaseSync, name: string): () => number {
  const statement = db.prepare(`PRAGMA ${name}`);
  return () => integer(statement.get()?.[name]);
}
