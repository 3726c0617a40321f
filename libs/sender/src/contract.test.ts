import { describeSender } from "@posthaste/testing/contract";
import { createSender } from "./sender.ts";
import { loopbackPolicy, realClock } from "./test-kit.ts";

describeSender("undici", async () => {
  const sender = createSender({
    policy: loopbackPolicy,
    connectionsPerOriginMax: 100,
    originsMax: 10,
    idleConnectionsMax: 10,
    connectionsMax: 1_000,
    answerBytesMax: 1_024 * 1_024,
    clock: realClock,
  });
  return { sender, close: () => sender.close() };
});
