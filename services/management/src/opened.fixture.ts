/** Stores for tests, in memory. */
import { afterEach } from "@jest/globals";
import { type Embedded, openEmbedded } from "@posthaste/embedded";
import { recordingLog, seededRandom, virtualClock } from "@posthaste/testing";

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0)) await close();
});

export function openStore(): Embedded {
  const store = openEmbedded({
    dataDir: ":memory:",
    clock: virtualClock(),
    random: seededRandom(1),
    log: recordingLog(),
  });
  closers.push(() => store.close());
  return store;
}
