/**
 * A member of a group in a process of its own, to be killed: `node listening.fixture.ts <broker> <prefix> <group>`.
 * Writes the number of shards that it owns, a line each time.
 */
import { systemClock } from "@posthaste/process";
import { recordingLog } from "@posthaste/testing";
import { openKafkaBus } from "./index.ts";

const [broker = "", prefix = "", group = ""] = process.argv.slice(2);
const bus = await openKafkaBus({
  brokers: [broker],
  prefix,
  clientId: "listening",
  partitions: 4,
  sessionMs: 2_000,
  clock: systemClock(),
  log: recordingLog(false),
  fatal: (error) => {
    throw error;
  },
});
await bus.subscribe("scheduler.wake", group, async () => undefined, {
  owns: (shards) => console.log(shards.length),
});
