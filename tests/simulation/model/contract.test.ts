/** The models keep the contracts that the adapters keep, since the simulation judges by them. */
import { randomLength, randomMessageId } from "@posthaste/domain";
import { type Ids } from "@posthaste/ports";
import { seededRandom, virtualClock } from "@posthaste/testing";
import {
  describeBulkActions,
  describeDeadLetters,
  describeFanOuts,
  describeGroups,
  describeMessageLog,
  describeQueues,
  describeRecords,
  describeReopening,
  describeRoster,
  describeRuns,
  describeRunLog,
  describeSchedules,
  describeTokenStore,
} from "@posthaste/testing/contract";
import { modelDeadLetters } from "./dead-letters.ts";
import { modelGroups } from "./groups.ts";
import { modelMessageLog } from "./message-log.ts";
import { modelRecords } from "./records.ts";
import { modelRoster } from "./roster.ts";
import { modelSchedules } from "./schedules.ts";
import { modelTokenStore } from "./token-store.ts";

async function openModel() {
  const clock = virtualClock();
  const now = (): number => clock.now();
  const schedules = modelSchedules(now);
  const log = modelMessageLog();
  const { ports, inspect, reopen } = modelRecords(clock, schedules, log);
  const opened = {
    ...ports,
    ids: idsFrom(1),
    deadLetters: modelDeadLetters(),
    messageLog: log.port,
    groups: modelGroups(now, inspect.isInUse),
    schedules: schedules.port,
    roster: modelRoster(now),
    now,
    advance: async (ms: number) => clock.advance(ms),
    close: async () => undefined,
  };
  return {
    ...opened,
    reopen: async () => {
      reopen();
      return opened;
    },
  };
}

function idsFrom(seed: number): Pick<Ids, "next"> {
  const random = seededRandom(seed);
  let position = 0;
  return { next: () => randomMessageId(++position, random.text(randomLength)) };
}

describeRecords("model", openModel);
describeQueues("model", openModel);
describeFanOuts("model", openModel);
describeReopening("model", openModel);
// Separate from the message store, as in the distributed shape: the store keeps no windows.
describeTokenStore("model", async () => {
  const { now, advance, close } = await openModel();
  return { tokens: modelTokenStore(now).port, now, advance, close };
});
describeDeadLetters("model", openModel);
describeMessageLog("model", openModel);
describeGroups("model", openModel);
describeSchedules("model", openModel);
describeBulkActions("model", openModel);
describeRuns("model", openModel);
describeRoster("model", openModel);
describeRunLog("model", openModel);
