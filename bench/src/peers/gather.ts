/**
 * Gathers items into batches. Items that come while a batch is under way go with the next. After a batch of at least `busy`
 * items the next waits `lingerMs` for more.
 */
import { setTimeout as sleep } from "node:timers/promises";

const busy = 32;

export function gather<Item>(
  batchMax: number,
  run: (batch: readonly Item[]) => Promise<void>,
  lingerMs = 0,
): (item: Item) => void {
  const waiting: Item[] = [];
  let isRunning = false;
  const drain = async () => {
    let last = 0;
    while (waiting.length > 0) {
      if (lingerMs > 0 && last >= busy) await sleep(lingerMs);
      const batch = waiting.splice(0, batchMax);
      last = batch.length;
      await run(batch);
    }
    isRunning = false;
  };
  return (item) => {
    waiting.push(item);
    if (isRunning) return;
    isRunning = true;
    setImmediate(() => void drain());
  };
}
