import { expect, it } from "@jest/globals";
import { heldUp } from "./held-up.ts";

const queue = { name: "mails", createdAt: 0, updatedAt: 0, parallelism: 1, paused: false, lag: 7 };
const key = {
  flowControlKey: "crm",
  waitListSize: 4,
  parallelismMax: 2,
  parallelismCount: 2,
  rateMax: 0,
  rateCount: 0,
  ratePeriod: 1,
  ratePeriodStart: 0,
  isPaused: false,
  isPinnedParallelism: false,
  isPinnedRate: false,
};
const nothing = { queue: undefined, key: undefined, notBefore: undefined, now: 10 };
const wordsOf = (facts: Partial<Parameters<typeof heldUp>[0]>) =>
  heldUp({ ...nothing, ...facts }).map(({ words }) => words);

it("the reason that stops a message comes first, then its waits", () => {
  const busy = { ...key, parallelismMax: 0, rateMax: 5, rateCount: 5 };

  expect(wordsOf({})).toEqual([]);
  expect(wordsOf({ notBefore: 11 })).toEqual(["The message is not due yet"]);
  expect(wordsOf({ notBefore: 9 })).toEqual([]);
  expect(wordsOf({ queue })).toEqual([
    "The message waits in the queue mails: 7 messages, 1 at once",
  ]);
  expect(wordsOf({ key })).toEqual(["The flow key crm has all 2 slots taken"]);
  expect(wordsOf({ key: busy })).toEqual(["The flow key crm has used its rate of 5"]);
  expect(wordsOf({ queue, key: { ...key, isPaused: true } })).toEqual([
    "The flow key crm is paused",
    "The message waits in the queue mails: 7 messages, 1 at once",
  ]);
  expect(wordsOf({ queue: { ...queue, paused: true } })).toEqual(["The queue mails is paused"]);
});
