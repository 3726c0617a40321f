import { expect, it } from "@jest/globals";
import { aPolicy, aRun, epochStart } from "@posthaste/testing";
import { dlqId, messageId, runId } from "../shared/ids.ts";
import { type Run, type RunIn } from "../workflow/run.ts";
import {
  matchesFailedRun,
  matchesRun,
  type FailedRunFilter,
  type RunFilter,
} from "./run-filter.ts";

const hook = "https://hook.example:81/a/b?c=d";
const given = aRun();
const planned = (policy: Parameters<typeof aPolicy>[0]) => ({
  plan: { ...given.plan, policy: aPolicy(policy) },
});
const flowed = (key: string) =>
  planned({ flow: { key, limits: { periodMs: 1_000, parallelism: 1 } } });
const ended = { endedAt: epochStart, pending: [] } as const;
const again = { id: runId("again"), createdAt: epochStart + 9 };

type Row<Filter> = readonly [
  what: string,
  filter: Filter,
  right: Partial<Run>,
  wrong: readonly Partial<Run>[],
];

const anyLists: readonly Row<RunFilter & FailedRunFilter>[] = [
  ["id", { id: runId("one") }, { id: runId("one") }, [{ id: runId("ones") }]],
  ["time of the start", { createdAt: epochStart + 9 }, { createdAt: epochStart + 9 }, []],
  ["url", { urls: ["x", hook] }, { url: hook }, [{ url: `${hook}e` }]],
  ["beginning of the url", { urlPrefixes: ["x", "https://hook.example:81/a"] }, { url: hook }, []],
  [
    "host, with its port",
    { hosts: ["hook.example:81"] },
    { url: hook },
    [{ url: "http://hook.example/" }],
  ],
  [
    "host, without its port",
    { hosts: ["hook.example"] },
    { url: hook },
    [{ url: "http://a.hook.example/" }],
  ],
  ["path", { paths: ["/a/b"] }, { url: hook }, [{ url: "http://hook.example/a/b/" }]],
  ["label", { labels: ["b", "c"] }, planned({ labels: ["a", "b"] }), [planned({ labels: ["bc"] })]],
  ["flow key", { flowControlKeys: ["k"] }, flowed("k"), [flowed("kk")]],
  ["caller", { callerIps: ["10.0.0.9"] }, { callerIp: "10.0.0.9" }, []],
  [
    "label and url together",
    { labels: ["a"], urls: [hook] },
    { ...planned({ labels: ["a"] }), url: hook },
    [{ url: hook }, planned({ labels: ["a"] })],
  ],
];

const runRows: readonly Row<RunFilter>[] = [
  [
    "time, both ends included",
    { from: epochStart + 9, to: epochStart + 9 },
    again,
    [{ createdAt: epochStart + 10 }],
  ],
  [
    "id and time together",
    { runs: [again] },
    again,
    [{ id: again.id }, { createdAt: again.createdAt }],
  ],
  ["root", { roots: [messageId("msg_1")] }, { root: messageId("msg_1") }, []],
  ["success", { states: ["succeeded"] }, { state: { kind: "succeeded", ...ended } }, []],
  ["cancellation", { states: ["canceled"] }, { state: { kind: "canceled", ...ended } }, []],
  ["failure", { states: ["failed", "canceled"] }, failed(), []],
];

it.each<Row<RunFilter>>([...anyLists, ...runRows])(
  "a run is found by its %s",
  (_, filter, right, wrong) => {
    expect(matchesRun(filter, { ...given, ...right })).toBe(true);
    for (const each of [{}, ...wrong])
      expect(matchesRun(filter, { ...given, ...each })).toBe(false);
  },
);

it("an active run is found by its state", () => {
  expect(matchesRun({ states: ["active"] }, given)).toBe(true);
  expect(matchesRun({ states: ["active"] }, { ...given, ...failed() })).toBe(false);
});

function failed(endedAt = epochStart, failure = {}): Pick<RunIn<"failed">, "state"> {
  const why = { dlqId: dlqId("1-a"), at: "start", inDlq: true, reason: "non_retryable" } as const;
  return {
    state: { kind: "failed", ...ended, endedAt, notes: [], failure: { ...why, ...failure } },
  };
}

it.each<Row<FailedRunFilter>>([
  ...anyLists,
  ["dead letter", { dlqIds: [dlqId("1-b")] }, failed(epochStart, { dlqId: dlqId("1-b") }), []],
  ["status", { statuses: [418, 419] }, failed(epochStart, { status: 418 }), []],
  [
    "time of failure, both ends included",
    { from: epochStart + 9, to: epochStart + 9 },
    failed(epochStart + 9),
    [failed(epochStart + 10)],
  ],
])("a failed run is found by its %s", (_, filter, right, wrong) => {
  const run = { ...given, ...failed() };
  const matches = (of: Partial<Run>) =>
    matchesFailedRun(filter, { ...run, ...of } as RunIn<"failed">);

  expect(matches(right)).toBe(true);
  for (const each of [{}, ...wrong]) expect(matches(each)).toBe(false);
});

it("a failed run without an answer is found by the status 0", () => {
  expect(matchesFailedRun({ statuses: [0] }, { ...given, ...failed() })).toBe(true);
});
