/** The adapter of MongoDB keeps its contracts over the server in memory. */
import { openPorts } from "@posthaste/documents-mongo";
import { recordingLog, seededRandom, turn, virtualClock } from "@posthaste/testing";
import {
  describeBulkActions,
  describeDeadLetters,
  describeFanOuts,
  describeGroups,
  describeMessageLog,
  describeQueues,
  describeRecords,
  describeRoster,
  describeRunLog,
  describeRuns,
  describeSchedules,
} from "@posthaste/testing/contract";
import { connectionOf } from "./connection.ts";
import { Server } from "./server.ts";

async function open() {
  const clock = virtualClock();
  // A call hands over, as one over a network does, and so does each write of a document.
  const server = new Server({ between: turn });
  const call = async <T>(_: string, effect: () => Promise<T>): Promise<T> => {
    await turn();
    return effect();
  };
  const connection = connectionOf(
    { server, by: "a process", call },
    {
      clock,
      random: seededRandom(1),
      log: recordingLog(),
      pause: turn,
      again: (task) => task(),
    },
  );
  const { ports } = openPorts(connection);
  return {
    ...ports,
    log: ports.messageLog,
    other: openPorts(connection).ports,
    now: () => clock.now(),
    advance: (ms: number) => clock.advance(ms),
    aSecond: () => clock.advance(1_000),
    close: async () => undefined,
  };
}

describeRecords("memory", open);
describeFanOuts("memory", open);
describeQueues("memory", open);
describeDeadLetters("memory", open);
describeMessageLog("memory", open);
describeGroups("memory", open);
describeSchedules("memory", open);
describeBulkActions("memory", open);
describeRuns("memory", open);
describeRunLog("memory", open);
describeRoster("memory", open);
