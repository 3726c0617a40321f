/**
 * Measures the least that a durable answer waits for: at a steady rate, 4 KiB are overwritten and synced. Writes that
 * come due during a sync share the next, as in any group commit.
 */
import { closeSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { dataFolder } from "../folders.ts";
import { spareBeats, startMetronome } from "./metronome.ts";

const page = Buffer.alloc(4096);
/** About a write-ahead log's size. The file is overwritten from its start and never grows. */
const pages = 1_000;

/** Returns the milliseconds from each write's due time to the end of its sync, sorted. */
export async function syncedWrites(options: {
  readonly perSecond: number;
  readonly forMs: number;
}): Promise<Float64Array> {
  const { perSecond, forMs } = options;
  const folder = dataFolder();
  const file = openSync(join(folder.path, "log"), "w");
  for (let at = 0; at < pages; at++) writeSync(file, page, 0, page.length, at * page.length);
  fdatasyncSync(file);

  const total = Math.floor((perSecond * forMs) / 1000);
  const times = new Float64Array(total);
  let done = 0;
  let syncs = 0;
  await new Promise<void>((resolve, reject) => {
    const writeDue = () => {
      const due = Math.min(
        total,
        1 + Math.floor(((performance.now() - startAt) * perSecond) / 1000),
      );
      if (due <= done) return;
      writeSync(file, page, 0, page.length, (syncs++ % pages) * page.length);
      fdatasyncSync(file);
      const now = performance.now();
      for (; done < due; done++) times[done] = now - startAt - (done * 1000) / perSecond;
      if (done === total) metronome.stop().then(() => resolve(), reject);
    };
    const metronome = startMetronome(perSecond, total + spareBeats, writeDue);
    const { startAt } = metronome;
  });
  closeSync(file);
  folder.remove();
  return times.sort();
}
