import { epochStart, recordingLog, seededRandom, virtualClock } from "@posthaste/testing";
import { describeMessageStore } from "@posthaste/testing/contract";
import { openEmbedded } from "./embedded.ts";

describeMessageStore("embedded", async () => {
  const clock = virtualClock(epochStart);
  const embedded = openEmbedded({
    dataDir: ":memory:",
    clock,
    random: seededRandom(1),
    log: recordingLog(),
  });
  return {
    store: embedded.messages,
    ids: embedded.ids,
    now: () => clock.now(),
    advance: (ms) => clock.advance(ms),
    close: () => embedded.close(),
  };
});
