import { expect, it } from "@jest/globals";
import { aMessage, aPolicy, aRun, epochStart, type MessageOverrides } from "@posthaste/testing";
import { dlqId } from "../shared/ids.ts";
import { type Message } from "../message/message.ts";
import { type DeadLetterFilter, type LiveFilter, type LogFilter } from "./filter.ts";
import { matchesLetter, matchesLive, matchesLogged } from "./matches.ts";

const hook = "https://hook.example:8443/a/b?c=d";
const from = (given: Partial<Message["origin"]>): MessageOverrides => ({
  origin: { callerIp: "203.0.113.7", hop: 0, ...given },
});
const labelled = (...labels: readonly string[]) => ({ policy: aPolicy({ labels }) });
const flowed = (key: string) => ({ flow: { key, limits: { rate: 1, periodMs: 1_000 } } });
const at = (ms: number) => ({ now: epochStart + ms });

type Row<Filter> = readonly [
  what: string,
  filter: Filter,
  right: readonly MessageOverrides[],
  wrong: readonly MessageOverrides[],
];

const anyLists: readonly Row<LiveFilter & DeadLetterFilter>[] = [
  ["url", { urls: ["x", hook] }, [{ url: hook }], [{ url: `${hook}e` }, { url: "https://x/" }]],
  [
    "group",
    { groups: ["g"] },
    [from({ group: { name: "g" } })],
    [from({ group: { name: "gg" } }), from({ queueName: "g" })],
  ],
  ["queue", { queueNames: ["q"] }, [from({ queueName: "q" })], [from({ queueName: "qq" })]],
  ["schedule", { scheduleIds: ["s"] }, [from({ scheduleId: "s" })], [from({ scheduleId: "ss" })]],
  ["caller", { callerIps: ["2001:db8::1"] }, [from({ callerIp: "2001:db8::1" })], []],
  ["label", { labels: ["a", "b"] }, [labelled("x", "a"), labelled("b")], [labelled("ab")]],
  ["flow key", { flowControlKeys: ["k"] }, [flowed("k")], [flowed("kk"), labelled("k")]],
  [
    "url and label together",
    { urls: [hook], labels: ["a"] },
    [{ url: hook, ...labelled("a") }],
    [{ url: hook }, labelled("a")],
  ],
  [
    "time, both ends included",
    { from: epochStart + 5, to: epochStart + 9 },
    [at(5), at(9)],
    [at(4), at(10)],
  ],
];

const listsWithPlaces: readonly Row<LiveFilter & LogFilter>[] = [
  [
    "host, with its port",
    { hosts: ["hook.example:8443"] },
    [{ url: hook }],
    [{ url: "https://hook.example/" }],
  ],
  [
    "host, without its port",
    { hosts: ["hook.example"] },
    [{ url: hook }],
    [{ url: "https://a.hook.example/" }, { url: "https://b.example/hook.example" }],
  ],
  [
    "path, without the query",
    { paths: ["/a/b"] },
    [{ url: hook }],
    [{ url: "https://hook.example/a/b/" }, { url: "https://hook.example/?x=/a/b" }],
  ],
];

const inLog = (filter: LogFilter, message: Message): boolean =>
  matchesLogged(filter, { at: message.createdAt, attempt: 0, state: "CREATED" }, message);
const inLetter = (filter: DeadLetterFilter, message: Message): boolean =>
  matchesLetter(filter, { id: dlqId("1-a"), failedAt: message.createdAt, message });

it.each<Row<LiveFilter>>([...anyLists, ...listsWithPlaces])(
  "a live message and an event of the log are found by their %s",
  (_, filter, right, wrong) => {
    for (const matches of [matchesLive, inLog]) {
      for (const each of right)
        expect([each, matches(filter, aMessage(each))]).toEqual([each, true]);
      for (const each of [{}, ...wrong])
        expect([each, matches(filter, aMessage(each))]).toEqual([each, false]);
    }
  },
);

it.each(anyLists)("a dead letter is found by its %s", (_, filter, right, wrong) => {
  for (const each of right) expect([each, inLetter(filter, aMessage(each))]).toEqual([each, true]);
  for (const each of [{}, ...wrong])
    expect([each, inLetter(filter, aMessage(each))]).toEqual([each, false]);
});

it("a live message of a run is never found", () => {
  const { createdAt, id, key, root } = aRun();
  const run = { createdAt, id, key, root, part: "s1", bytes: 0 };

  expect(matchesLive({}, aMessage({ run }))).toBe(false);
});

it("events of the log are found by message and state", () => {
  const [message, other] = [aMessage(), aMessage()];

  expect(inLog({ messageIds: [message.id] }, message)).toBe(true);
  expect(inLog({ messageIds: [message.id] }, other)).toBe(false);
  expect(inLog({ messageIds: [] }, message)).toBe(false);
  expect(inLog({ states: ["ACTIVE", "CREATED"] }, message)).toBe(true);
  expect(inLog({ states: ["FAILED"] }, message)).toBe(false);
});

it("dead letters are found by id, message and status of the answer, where 0 means none", () => {
  const [message, failedAt] = [aMessage(), epochStart];
  const unanswered = { id: dlqId("1-a"), failedAt, message };
  const answered = { id: dlqId("1-b"), failedAt, message: aMessage(), response: { status: 418 } };
  const found = (filter: DeadLetterFilter): readonly boolean[] =>
    [unanswered, answered].map((letter) => matchesLetter(filter, letter));

  expect(found({ ids: [unanswered.id, dlqId("0-none")] })).toEqual([true, false]);
  expect(found({ ids: [] })).toEqual([false, false]);
  expect(found({ messageIds: [message.id] })).toEqual([true, false]);
  expect(found({ responseStatuses: [418, 419] })).toEqual([false, true]);
  expect(found({ responseStatuses: [0] })).toEqual([true, false]);
});
