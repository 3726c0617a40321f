import { describe, expect, it } from "@jest/globals";
import {
  dlqIdOf,
  messageId,
  newOrder,
  type PartName,
  type Run,
  type RunAttempt,
  runId,
  runKey,
  type RunPart,
  type RunState,
  tenantId,
} from "@posthaste/domain";
import { atOnce } from "../bodies/pause.ts";
import { runMessages } from "./run-messages.ts";
import { shownAttempt, shownParts } from "./shown-part.ts";

const start = 1_767_225_600_000;
const root = messageId("msg_00000000000000000000000001");
const tenant = tenantId("tenant1");
const view = { sha256: () => "hash" };

const aRun = (overrides: Partial<Run>): Run => ({
  ...{ key: runKey(tenant, runId("run"), 1), id: runId("run"), generation: 1, root },
  ...{ tenant, dialect: "service", shard: 0, url: "https://a.example/", callerIp: "10.0.0.1" },
  ...{ createdAt: start, history: newOrder, bytes: 0, reached: 0, version: 1 },
  state: { kind: "active", pending: [], notes: [] },
  plan: { features: [], headers: [], policy: { timeoutMs: 1, retriesMax: 3, labels: [] } },
  ...overrides,
});

const part = (name: PartName, after: number, json: object = {}): RunPart => ({
  ...{ name, at: start + after },
  body: new TextEncoder().encode(JSON.stringify(json)),
});

const retried = (of: PartName, from: number, to: number): RunAttempt => ({
  part: of,
  fact: {
    ...{ kind: "fact", id: root, attempt: 0, startedAt: start + from, ended: "retry" },
    endedAt: start + to,
    response: { status: 503, headers: [], body: new Uint8Array(0), truncated: false },
  },
});

function messagesOf(run: Run, parts: readonly RunPart[], attempts: readonly RunAttempt[] = []) {
  const { add, shown } = shownParts(run, view);
  for (const each of parts) atOnce(add(each));
  const reading = {
    ...{ run, parts: shown, progress: new Map() },
    attempts: attempts.map((attempt) => shownAttempt(run, attempt, view)),
  };
  return runMessages(reading, view).toReversed();
}

const outline = (...args: Parameters<typeof messagesOf>) =>
  messagesOf(...args).map(({ event: { state, stepInfo, time } }) =>
    [time - start, ...(stepInfo ? [partIn(stepInfo.messageId)] : []), state].join(" "),
  );
const partIn = (id = "-"): string => (id === root ? "start" : id.replace(`${root}_r`, ""));

const spans = (...of: readonly (readonly ["plan" | "result", number, number])[]) => ({
  spans: of.map(([role, from, to]) => ({ role, from, to })),
  length: of.reduce((length, [, from, to]) => length + to - from + 1, 1),
});

const failedAt = (at: PartName): RunState => ({
  ...{ kind: "failed", endedAt: start + 90, pending: [], notes: [] },
  failure: {
    ...{ dlqId: dlqIdOf(root, start + 90), at, inDlq: true, status: 500 },
    reason: "retries_exhausted",
  },
});

describe("the messages of a run", () => {
  it("were delivered when they had caused the next messages", () => {
    const run = aRun({
      history: spans(["result", 1, 2]),
      reached: 2,
      state: { kind: "succeeded", endedAt: start + 40, pending: [] },
    });
    const parts = [
      part("start", 0),
      part("s1", 20, { stepId: 1 }),
      part("c2", 25),
      part("a2", 27),
      part("s2", 30, { stepId: 2, stepType: "Call" }),
    ];

    expect(outline(run, parts, [retried("start", 5, 10)])).toEqual([
      "0 RUN_STARTED",
      "0 start CREATED",
      "5 start ACTIVE",
      "10 start ERROR",
      "10 start RETRY",
      "20 start DELIVERED",
      "20 s1 CREATED",
      "25 s1 DELIVERED",
      "25 c2 CREATED",
      "27 c2 DELIVERED",
      "27 a2 CREATED",
      "30 a2 DELIVERED",
      "30 s2 CREATED",
      "40 s2 DELIVERED",
      "40 RUN_SUCCESS",
    ]);
  });

  it("of a group end with their own results, and its results when the route has continued after the group", () => {
    const run = aRun({ history: spans(["plan", 1, 2], ["result", 1, 3]), reached: 3 });
    const plans = [part("p1", 10, { stepId: 0 }), part("p2", 10, { stepId: 0 })];
    const results = [part("s1", 20), part("s2", 30), part("s3", 35)];

    expect(outline(run, [part("start", 0), ...plans, ...results])).toEqual([
      ...["0 RUN_STARTED", "0 start CREATED", "10 start DELIVERED"],
      ...["10 p1 CREATED", "10 p2 CREATED", "20 p1 DELIVERED", "20 s1 CREATED"],
      ...["30 p2 DELIVERED", "30 s2 CREATED", "35 s1 DELIVERED", "35 s2 DELIVERED"],
      "35 s3 CREATED",
    ]);
  });

  it("at which a run has failed have failed, and its other open ones are cancelled", () => {
    const run = aRun({ history: spans(["plan", 1, 2]), reached: 2, state: failedAt("p2") });
    const plans = [part("p1", 10, { stepId: 0 }), part("p2", 10, { stepId: 0 })];

    const told = messagesOf(run, [part("start", 0), ...plans]);

    expect(outline(run, [part("start", 0), ...plans])).toEqual([
      ...["0 RUN_STARTED", "0 start CREATED", "10 start DELIVERED"],
      ...["10 p1 CREATED", "10 p2 CREATED"],
      ...["90 p1 CANCELED", "90 p2 ERROR", "90 p2 FAILED", "90 RUN_FAILED"],
    ]);
    const error = told.find(({ event }) => event.state === "ERROR")?.event;
    expect(error).toMatchObject({ responseStatus: 500, headers: {}, stepInfo: { stepId: 2 } });
  });

  it("show that a step waits, and the run that another has invoked", () => {
    const invocation = { child: { destination: { url: "https://b.example/" }, run: { id: "b" } } };
    const pending = [
      { kind: "wait", step: 1, event: "e", deadline: start + 60 },
      { kind: "invoke", step: 2, childId: runId("b"), childRoot: root },
    ] as const;
    const run = aRun({
      ...{ history: spans(["plan", 1, 2]), reached: 2 },
      state: { kind: "canceled", endedAt: start + 50, pending },
    });
    const wait = { deadline: start + 60, step: { stepId: 1, stepName: "w", stepType: "Wait" } };
    const parts = [
      ...[part("start", 0), part("p1", 5), part("p2", 5)],
      ...[part("w1", 10, wait), part("v2", 20, invocation)],
    ];

    const told = messagesOf(run, parts);

    expect(outline(run, parts).slice(-5)).toEqual([
      ...["10 p1 DELIVERED", "10 - WAITER_ADDED", "20 p2 DELIVERED", "20 - INVOKED"],
      "50 RUN_CANCELED",
    ]);
    expect(told.find(({ event }) => event.state === "WAITER_ADDED")?.event.stepInfo).toMatchObject({
      ...{ stepId: 1, stepName: "w", waitTimeoutDeadline: start + 60 },
    });
    expect(told.find(({ event }) => event.state === "INVOKED")?.event.stepInfo).toMatchObject({
      ...{ stepId: 2, invokedWorkflowRunId: "b" },
    });
  });

  it("of a resumed run are the repeated ones, and their effects", () => {
    const resumed = aRun({ createdAt: start + 100, history: spans(["result", 1, 2]), reached: 2 });
    const parts = [part("start", 0), part("s1", 20), part("s2", 120)];

    expect(outline(resumed, parts)).toEqual([
      ...["100 RUN_STARTED", "100 s1 CREATED", "120 s1 DELIVERED", "120 s2 CREATED"],
    ]);
  });
});
