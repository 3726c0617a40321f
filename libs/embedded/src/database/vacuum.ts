/**
 * Gives free pages back to the disk, from the file's end. Each step is a short transaction, so that other work does not wait for long.
 * The time of a step depends on how many pages are free (SQLite looks for each of them in a list), so the size of a step follows the time
 * of the last one.
 */
import { type DatabaseSync } from "node:sqlite";
import { integer } from "./rows.ts";
import { type Writer } from "./writer.ts";

const stepMsMax = 4;
const pagesPerStepMin = 16;
const pagesPerStepMax = 1_024;
/** The pause between two steps, in which other work runs. */
const pauseMs = 5;

/** A vacuum runs when half of the file, and enough pages to be worth it, are free: free pages are used again before the file grows. */
const freeShareMin = 0.5;
const freePagesMin = 4_096;

export type Vacuum = {
  /** Reports whether most of the file is free. */
  readonly isWorthIt: () => boolean;
  /** Ends when no page is free, or when `stopped` says so. */
  readonly run: (pause: (ms: number) => Promise<void>, stopped: () => boolean) => Promise<void>;
};

export function openVacuum(db: DatabaseSync, writer: Pick<Writer, "write">): Vacuum {
  const freePages = pragma(db, "freelist_count");
  const pages = pragma(db, "page_count");
  // A file made with another `auto_vacuum` keeps its pages and reuses them.
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
      // Each step gives back at least one free page; other writes may free more meanwhile.
      while (canShrink && !stopped() && freePages() > 0) {
        const tookMs = await writer.write(() => step(count), "redoable");
        const next = tookMs > stepMsMax ? count / 2 : tookMs < stepMsMax / 4 ? count * 2 : count;
        count = Math.max(1, Math.min(Math.floor(next), pagesPerStepMax));
        await pause(pauseMs);
      }
    },
  };
}

/** The value of `PRAGMA auto_vacuum` for a file whose free pages are given back on request. */
const incremental = 2;

function pragma(db: DatabaseSync, name: string): () => number {
  const statement = db.prepare(`PRAGMA ${name}`);
  return () => integer(statement.get()?.[name]);
}
