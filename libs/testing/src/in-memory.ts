/** Stores in memory. The test sets time and chance. */
import { afterEach } from "@jest/globals";
import { recordingLog } from "./recording-log.ts";
import { seededRandom } from "./seeded-random.ts";
import { virtualClock } from "./virtual-clock.ts";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

/** Opens a store by `open`, which is `openEmbedded`, and closes it when the test has ended. */
export function openInMemory<Store extends { readonly close: () => Promise<void> }>(
  open: (parts: ReturnType<typeof partsOver>) => Store,
  clock = virtualClock(),
) {
  const parts = partsOver(clock);
  const store = open(parts);
  closers.push(store.close);
  return { clock, log: parts.log, random: parts.random, store };
}

const partsOver = (clock: ReturnType<typeof virtualClock>) => ({
  dataDir: ":memory:",
  clock,
  random: seededRandom(1),
  log: recordingLog(),
  // Commits come in the turn of their calls, so that no time passes until all effects of a step have happened.
  schedule: queueMicrotask,
});
