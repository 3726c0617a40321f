/** Runs every port of this package against its contract, in memory and in a file. */
import {
  describeAccounts,
  describeAuditLog,
  describeBulkActions,
  describeDeadLetters,
  describeEventBus,
  describeFanOuts,
  describeGroups,
  describeMessageLog,
  describeQueues,
  describeRecords,
  describeReopening,
  describeRuns,
  describeRunLog,
  describeSchedules,
  describeSearchIndexes,
  describeTokenStore,
} from "@posthaste/testing/contract";
import { copyOf, newDirectory, openIn, type Opened } from "./opened.fixture.ts";

const open = (dataDir: string) => async () => harnessOf(openIn(dataDir));

const harnessOf = ({ clock, close, ...ports }: Opened) => {
  const now = (): number => clock.now();
  const advance = (ms: number): Promise<void> => clock.advance(ms);
  return { ...ports, now, advance, close: () => close() };
};

describeRecords("embedded", open(":memory:"));
describeQueues("embedded", open(":memory:"));
describeFanOuts("embedded", open(":memory:"));
describeTokenStore("embedded", open(":memory:"));
describeGroups("embedded", open(":memory:"));
describeSchedules("embedded", open(":memory:"));
describeBulkActions("embedded", open(":memory:"));
describeRuns("embedded", open(":memory:"));
describeAccounts("embedded", open(":memory:"));
describeSearchIndexes("embedded", open(":memory:"));
describeAuditLog("embedded", open(":memory:"));
describeDeadLetters("embedded", open(":memory:"));
describeMessageLog("embedded", open(":memory:"));
describeEventBus("embedded", open(":memory:"));
describeRunLog("embedded", open(":memory:"));

// In a file, lists are read through a connection of their own.
const openFile = () => open(newDirectory())();
describeDeadLetters("embedded in a file", openFile);
describeMessageLog("embedded in a file", openFile);
describeRecords("embedded in a file", openFile, ["pulling", "removing"]);
describeRunLog("embedded in a file", openFile);

describeReopening("embedded", async () => {
  const first = openIn(newDirectory());
  const { clock } = first;
  return { ...harnessOf(first), reopen: async () => harnessOf(openIn(copyOf(first), { clock })) };
});
