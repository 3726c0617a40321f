/** Every port of this package against its contract, in memory and in a file. */
import {
  describeAccounts,
  describeDeadLetters,
  describeEventBus,
  describeGroups,
  describeMessageLog,
  describeMessageStore,
  describeSearchIndexes,
  describeTokenStore,
} from "@posthaste/testing/contract";
import { newDirectory, openIn } from "./opened.fixture.ts";

const open = (dataDir: string) => async () => {
  const { clock, messages, close, ...ports } = openIn(dataDir);
  const now = (): number => clock.now();
  const advance = (ms: number): Promise<void> => clock.advance(ms);
  return { ...ports, store: messages, now, advance, close: () => close() };
};

describeMessageStore("embedded", open(":memory:"));
describeTokenStore("embedded", open(":memory:"));
describeGroups("embedded", open(":memory:"));
describeAccounts("embedded", open(":memory:"));
describeSearchIndexes("embedded", open(":memory:"));
describeDeadLetters("embedded", open(":memory:"));
describeMessageLog("embedded", open(":memory:"));
describeEventBus("embedded", open(":memory:"));

// Lists read through a connection of their own here.
const openFile = () => open(newDirectory())();
describeDeadLetters("embedded in a file", openFile);
describeMessageLog("embedded in a file", openFile);
describeMessageStore("embedded in a file", openFile);
