/** Runs with their parts, as the views of runs and of steps read them. Texts that are redacted hold the word canary. */
import {
  type AttemptFact,
  dlqIdOf,
  type EntryDelivery,
  messageId,
  type MessageRecord,
  newOrder,
  type Order,
  type PartName,
  progressOf,
  type Run,
  type RunAttempt,
  runId,
  runKey,
  type RunPart,
  type RunPolicy,
  type RunState,
  shardOf,
  tenantId,
} from "@posthaste/domain";
import { type ReadView } from "../representations/body.ts";
import { sha256 } from "../representations/message.fixture.ts";
import { stepGroups } from "./run-view.ts";
import { type RunReading } from "./step-view.ts";
import { atOnce } from "../bodies/pause.ts";
import { shownAttempt, shownParts } from "./shown-part.ts";

export const view: ReadView = { sha256 };
export const epochStart = 1_767_225_600_000;
const aTenant = tenantId("tenant1");
const root = messageId("msg_00000000000000000000000001");
export const aPolicy = (overrides: Partial<RunPolicy> = {}): RunPolicy => ({
  timeoutMs: 60_000,
  retriesMax: 3,
  labels: [],
  ...overrides,
});
export const active: RunState = { kind: "active", pending: [], notes: [] };
export const waits = { kind: "wait", step: 1, event: "e", deadline: epochStart + 5 } as const;
export const waiting: RunState = {
  kind: "active",
  pending: [waits],
  notes: [],
};
export const canceled = { kind: "canceled", endedAt: epochStart + 9, pending: [] } as const;
export const calls = { kind: "call", step: 1, isAnswered: true } as const;
export const failedAt = (at: PartName): RunState => {
  const failure = { dlqId: dlqIdOf(root, epochStart + 9), at, inDlq: true, status: 500 };
  const reason = "retries_exhausted" as const;
  const told = { function: { round: 1, state: "succeeded" } } as const;
  return {
    ...{ kind: "failed", endedAt: epochStart + 9, pending: [], notes: [] },
    failure: { ...failure, reason, ...told },
  };
};

export const aRun = (overrides: Partial<Run> = {}): Run => ({
  ...{ key: runKey(aTenant, runId("run"), 1), id: runId("run"), generation: 1, root },
  ...{ tenant: aTenant, dialect: "service", shard: 0, url: "https://a.example/" },
  ...{ callerIp: "10.0.0.1", createdAt: epochStart, state: active, history: newOrder },
  ...{ bytes: 0, reached: 0, version: 1 },
  plan: { features: [], headers: [["X-Secret", "canary"]], policy: aPolicy() },
  ...overrides,
});

export const spans = (...all: Order["spans"]): Order => ({
  spans: all,
  length: 1 + all.reduce((sum, { from, to }) => sum + to - from + 1, 0),
});

export const part = (name: PartName, json: object): readonly [PartName, RunPart] => [
  name,
  { name, at: epochStart + 1, body: new TextEncoder().encode(JSON.stringify(json)) },
];

export const reading = (
  run: Run,
  parts: readonly (readonly [PartName, RunPart])[] = [],
  records: readonly (readonly [PartName, MessageRecord])[] = [],
  { attempts = [], seen = view }: { attempts?: readonly RunAttempt[]; seen?: ReadView } = {},
): RunReading => {
  const { add, shown } = shownParts(run, seen);
  for (const [, each] of [part("start", { payload: "canary" }), ...parts]) atOnce(add(each));
  return {
    run,
    parts: shown,
    progress: new Map(records.map(([name, record]) => [name, progressOf(record)])),
    attempts: attempts.map((attempt) => shownAttempt(run, attempt, seen)),
  };
};

export const retriedAt = (dueAt: number): MessageRecord => ({
  message: {
    ...{ id: root, tenant: aTenant, dialect: "service", shard: shardOf(root) },
    ...{ createdAt: epochStart, notBefore: epochStart, url: "https://a.example/", method: "POST" },
    ...{ headers: [], body: new Uint8Array(0), policy: aPolicy() },
    origin: { callerIp: "10.0.0.1", hop: 0 },
  },
  state: { kind: "held", dueAt },
  ...{ wakeAt: dueAt, epoch: 1, retried: 1, leaseLosses: 0, deferrals: 0, outbox: [] },
});

export const sent: EntryDelivery = {
  ...{ url: "https://third.example/", method: "PUT", headers: [["X-A", "canary"]] },
  ...{ notBefore: 0, callerIp: "10.0.0.1", hop: 1, policy: aPolicy() },
};

export const failed = (
  of: PartName,
  attempt: number,
  more: Partial<AttemptFact> = {},
): RunAttempt => ({
  part: of,
  fact: {
    ...{ kind: "fact", id: root, attempt, startedAt: epochStart, endedAt: epochStart + attempt },
    ended: "retry",
    response: {
      ...{ status: 503, headers: [["X-A", "canary"]], truncated: false },
      body: new TextEncoder().encode("canary"),
    },
    ...more,
  },
});

export const outline = (of: RunReading) =>
  stepGroups(of, view).map(({ type, steps }) => [
    type,
    ...steps.map(({ stepId, stepName, state }) => [stepId ?? stepName, state].join(" ").trim()),
  ]);

export const step = (stepId: number, more: object = {}) => ({
  stepId,
  stepName: `step ${stepId}`,
  stepType: "Run",
  out: "canary",
  concurrent: 1,
  ...more,
});

export const init = ["sequential", "init STEP_SUCCESS"];
