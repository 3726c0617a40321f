/** The embedded store in memory, with time and chance of the test, which closes it. */
import { afterEach } from "@jest/globals";
import { openEmbedded } from "@posthaste/embedded";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export function openStore() {
  const parts = { clock: virtualClock(), random: seededRandom(1), log: recordingLog() };
  // Commits come in the turn that asked for them, so that time stands still.
  const store = openEmbedded({ dataDir: ":memory:", ...parts, schedule: queueMicrotask });
  closers.push(store.close);
  return { parts, store };
}
