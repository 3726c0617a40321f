import { describe, expect, it } from "@jest/globals";
import {
  type AttemptFact,
  deliveriesShown,
  dlqIdOf,
  type EntryDelivery,
  type Headers,
  messageId,
  type MessageRecord,
  newOrder,
  type Order,
  type PartName,
  progressOf,
  type Redaction,
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
import { runHeadJson, runJson, stepGroups } from "./run-view.ts";
import { type RunReading } from "./step-view.ts";
import { atOnce } from "../bodies/pause.ts";
import { shownAttempt, shownParts } from "./shown-part.ts";

const view: ReadView = { sha256 };
const epochStart = 1_767_225_600_000;
const aTenant = tenantId("tenant1");
const root = messageId("msg_00000000000000000000000001");
const aPolicy = (overrides: Partial<RunPolicy> = {}): RunPolicy => ({
  timeoutMs: 60_000,
  retriesMax: 3,
  labels: [],
  ...overrides,
});
const active: RunState = { kind: "active", pending: [], notes: [] };
const waits = { kind: "wait", step: 1, event: "e", deadline: epochStart + 5 } as const;
const waiting: RunState = {
  kind: "active",
  pending: [waits],
  notes: [],
};
const canceled: RunState = { kind: "canceled", endedAt: epochStart + 9, pending: [] };
const calls = { kind: "call", step: 1, isAnswered: true } as const;
const failedAt = (at: PartName): RunState => {
  const failure = { dlqId: dlqIdOf(root, epochStart + 9), at, inDlq: true, status: 500 };
  const reason = "retries_exhausted" as const;
  const told = { function: { round: 1, state: "succeeded" } } as const;
  return {
    ...{ kind: "failed", endedAt: epochStart + 9, pending: [], notes: [] },
    failure: { ...failure, reason, ...told },
  };
};

const aRun = (overrides: Partial<Run> = {}): Run => ({
  ...{ key: runKey(aTenant, runId("run"), 1), id: runId("run"), generation: 1, root },
  ...{ tenant: aTenant, dialect: "service", shard: 0, url: "https://a.example/" },
  ...{ callerIp: "10.0.0.1", createdAt: epochStart, state: active, history: newOrder },
  ...{ bytes: 0, reached: 0, version: 1 },
  plan: { features: [], headers: [["X-Secret", "canary"]], policy: aPolicy() },
  ...overrides,
});

const spans = (...all: Order["spans"]): Order => ({
  spans: all,
  length: 1 + all.reduce((sum, { from, to }) => sum + to - from + 1, 0),
});

const part = (name: PartName, json: object): readonly [PartName, RunPart] => [
  name,
  { name, at: epochStart + 1, body: new TextEncoder().encode(JSON.stringify(json)) },
];

const reading = (
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

const retriedAt = (dueAt: number): MessageRecord => ({
  message: {
    ...{ id: root, tenant: aTenant, dialect: "service", shard: shardOf(root) },
    ...{ createdAt: epochStart, notBefore: epochStart, url: "https://a.example/", method: "POST" },
    ...{ headers: [], body: new Uint8Array(0), policy: aPolicy() },
    origin: { callerIp: "10.0.0.1", hop: 0 },
  },
  state: { kind: "held", dueAt },
  ...{ wakeAt: dueAt, epoch: 1, retried: 1, leaseLosses: 0, deferrals: 0, outbox: [] },
});

const sent: EntryDelivery = {
  ...{ url: "https://third.example/", method: "PUT", headers: [["X-A", "canary"]] },
  ...{ notBefore: 0, callerIp: "10.0.0.1", hop: 1, policy: aPolicy() },
};

const failed = (of: PartName, attempt: number, more: Partial<AttemptFact> = {}): RunAttempt => ({
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

const outline = (of: RunReading) =>
  stepGroups(of, view).map(({ type, steps }) => [
    type,
    ...steps.map(({ stepId, stepName, state }) => [stepId ?? stepName, state].join(" ").trim()),
  ]);

const step = (stepId: number, more: object = {}) => ({
  stepId,
  stepName: `step ${stepId}`,
  stepType: "Run",
  out: "canary",
  concurrent: 1,
  ...more,
});

const init = ["sequential", "init STEP_SUCCESS"];

describe("the groups of a run", () => {
  it.each<readonly [string, RunReading, readonly (readonly string[])[]]>([
    ["that has begun", reading(aRun()), [init, ["next", "STEP_PROGRESS"]]],
    [
      "whose delivery is retried",
      reading(aRun(), [], [["start", retriedAt(7)]]),
      [init, ["next", "STEP_RETRY"]],
    ],
    [
      "with a step that is done",
      reading(aRun({ history: spans({ role: "result", from: 1, to: 1 }) }), [part("s1", step(1))]),
      [init, ["sequential", "1 STEP_SUCCESS"], ["next", "STEP_PROGRESS"]],
    ],
    [
      "with a parallel group, one of which is done",
      reading(
        aRun({
          history: spans({ role: "plan", from: 1, to: 2 }, { role: "result", from: 2, to: 2 }),
        }),
        [part("p1", step(0)), part("p2", step(0)), part("s2", step(2))],
      ),
      [init, ["parallel", "1 STEP_PROGRESS", "2 STEP_SUCCESS"]],
    ],
    [
      "with a member that failed, and another that was cut short",
      reading(aRun({ history: spans({ role: "plan", from: 1, to: 2 }), state: failedAt("p1") }), [
        part("p1", step(0)),
        part("p2", step(0)),
      ]),
      [init, ["parallel", "1 STEP_FAILED", "2 STEP_CANCELED"]],
    ],
    [
      "that waits for an event",
      reading(
        aRun({
          state: waiting,
        }),
        [part("w1", { step: step(1) })],
      ),
      [init, ["sequential", "1 STEP_PROGRESS"]],
    ],
    ["that failed", reading(aRun({ state: failedAt("start") })), [init, ["next", "STEP_FAILED"]]],
    ["that was cancelled", reading(aRun({ state: canceled })), [init, ["next", "STEP_CANCELED"]]],
    [
      "that was cancelled while it waited",
      reading(aRun({ state: { ...canceled, pending: [waits] } }), [part("w1", { step: step(1) })]),
      [init, ["sequential", "1 STEP_CANCELED"]],
    ],
    [
      "that was cancelled while a member of a group waited",
      reading(
        aRun({
          state: { ...canceled, pending: [waits] },
          history: spans({ role: "plan", from: 1, to: 2 }),
        }),
        [part("p1", step(0)), part("p2", step(0)), part("w1", { step: step(1) })],
      ),
      [init, ["parallel", "1 STEP_CANCELED", "2 STEP_CANCELED"]],
    ],
    [
      "that failed while it waited, by another member of its group",
      reading(
        aRun({
          state: { ...failedAt("p2"), pending: [waits] },
          history: spans({ role: "plan", from: 1, to: 2 }),
        }),
        [part("p1", step(0)), part("p2", step(0)), part("w1", { step: step(1) })],
      ),
      [init, ["parallel", "1 STEP_CANCELED", "2 STEP_FAILED"]],
    ],
    [
      "that failed by the answer of a call",
      reading(aRun({ state: { ...failedAt("a1"), pending: [calls] } })),
      [init, ["sequential", "1 STEP_FAILED"]],
    ],
    [
      "that has returned",
      reading(aRun({ state: { kind: "succeeded", endedAt: epochStart, pending: [] } })),
      [init],
    ],
  ])("%s", (_, of, expected) => {
    expect(outline(of)).toEqual(expected);
  });

  it("are shown as far as they are known where the parts have been swept", () => {
    const run = aRun({ history: spans({ role: "result", from: 1, to: 1 }), state: canceled });

    expect(outline({ ...reading(run), parts: new Map() })).toEqual([
      init,
      ["next", "STEP_CANCELED"],
    ]);
  });
});

it("a head has the fields of a run that its parts do not have", () => {
  for (const state of [active, canceled, failedAt("s1")]) {
    const run = aRun({ state, history: spans({ role: "result", from: 1, to: 1 }) });
    const whole = runJson(reading(run, [part("s1", step(1)), part("e", {})]), view, true);

    const { workflowRunResponse, failureFunction, ...head } = { failureFunction: {}, ...whole };

    expect(workflowRunResponse).toBe("{}");
    expect(failureFunction).toBeDefined();
    expect(runHeadJson(run, true)).toEqual({ ...head, steps: [] });
  }
});

describe("a step that sleeps", () => {
  const done = spans({ role: "result", from: 1, to: 1 });
  const [, sleep] = part("s1", step(1, { stepType: "SleepFor", sleepFor: 60, out: undefined }));
  const until = epochStart + 60_000;
  const slept = [["s1", { ...sleep, sent: { ...sent, notBefore: until } }] as const];
  const held = (retried: number): MessageRecord => ({ ...retriedAt(until), retried });
  const rows = (run: Run, records: readonly (readonly [PartName, MessageRecord])[] = []) =>
    stepGroups(reading(run, slept, records), view).slice(1);

  it("is under way until its time is up, and then the next step is", () => {
    const run = aRun({ history: done });

    expect(rows(run, [["s1", held(0)]])).toMatchObject([
      {
        type: "sequential",
        steps: [{ stepId: 1, state: "STEP_PROGRESS", nextDeliveryTime: until }],
      },
    ]);
    for (const [records, state] of [
      [[], "STEP_PROGRESS"],
      [[["s1", held(1)]], "STEP_RETRY"],
    ] as const)
      expect(rows(run, records)).toMatchObject([
        { type: "sequential", steps: [{ stepId: 1, state: "STEP_SUCCESS" }] },
        { type: "next", steps: [{ state }] },
      ]);
  });

  it("is cancelled with its run, and is done where that has ended later", () => {
    const ended = (endedAt: number) => aRun({ history: done, state: { ...canceled, endedAt } });

    expect(rows(ended(until - 1))).toMatchObject([{ steps: [{ state: "STEP_CANCELED" }] }]);
    expect(rows(ended(until + 1))).toMatchObject([
      { steps: [{ state: "STEP_SUCCESS" }] },
      { type: "next", steps: [{ state: "STEP_CANCELED" }] },
    ]);
  });
});

it("a step that waits or has waited says until when, and whether that was all of its time", () => {
  const deadline = epochStart + 1 + 90_500;
  const waited = part("w1", { step: step(1, { stepType: "Wait" }), deadline });
  const until = { waitTimeoutDeadline: deadline, waitTimeoutDuration: "90.5s" };
  const done = aRun({ history: spans({ role: "result", from: 1, to: 1 }) });
  const still = aRun({ state: { ...active, pending: [{ ...waits, deadline }] } });
  const rowOf = (run: Run, ...parts: readonly (readonly [PartName, RunPart])[]) =>
    stepGroups(reading(run, [waited, ...parts]), view)[1]?.steps[0];

  expect(rowOf(still)).toMatchObject({ ...until, waitEventId: "e", state: "STEP_PROGRESS" });
  expect(rowOf(still)).not.toHaveProperty("waitTimeout");
  expect(rowOf(done, part("s1", step(1, { waitEventId: "e" })))).toMatchObject({
    ...{ ...until, waitEventId: "e", waitTimeout: false, state: "STEP_SUCCESS" },
  });
  expect(rowOf(done, part("s1", step(1, { waitTimeout: true })))).toMatchObject({
    ...{ ...until, waitTimeout: true },
  });
});

describe("the fields that a client sends about a step that has thrown", () => {
  const headers: Headers = [["Upstash-Error-Step-Name", "ship"]];
  const response = { headers, status: 500, truncated: false, body: new Uint8Array(0) };

  it("names the delivery that is tried again", () => {
    const attempts = [failed("start", 1, { response })];
    const of = reading(aRun(), [], [["start", retriedAt(7)]], { attempts });

    expect(stepGroups(of, view)[1]?.steps).toMatchObject([
      { stepName: "ship", state: "STEP_RETRY" },
    ]);
  });

  it.each(["f", "h"])("names the one that has failed its run, kept in %s", (name) => {
    const parts = [part(name, { headers })];
    const of = reading(aRun({ state: failedAt("start") }), parts);

    expect(stepGroups(of, view)[1]?.steps).toMatchObject([
      { stepName: "ship", state: "STEP_FAILED" },
    ]);
  });
});

it("a failure function that is tried again says when", () => {
  const state = failedAt("start");
  if (state.kind !== "failed") throw new Error("it has failed");
  const told = { function: { round: 2, state: "running" } } as const;
  const run = aRun({ state: { ...state, failure: { ...state.failure, ...told } } });

  expect(deliveriesShown(run)).toEqual(["f2"]);
  expect(runJson(reading(run, [], [["f2", retriedAt(7)]]), view, true)).toMatchObject({
    failureFunction: { state: "CALLBACK_INPROGRESS", nextDeliveryTime: 7 },
  });
});

it("a result has the headers that its publish forwards, and its retry settings", () => {
  const policy = aPolicy({ retryDelay: "500" });
  const run = aRun({
    plan: { ...aRun().plan, policy },
    history: spans({ role: "result", from: 1, to: 2 }),
  });
  const [, own] = part("s2", step(2));
  const of = reading(run, [part("s1", step(1)), ["s2", { ...own, sent }]]);

  expect(stepGroups(of, view).slice(1, 3)).toMatchObject([
    { steps: [{ headers: { "Content-Type": ["application/json"] }, retryDelay: "500" }] },
    { steps: [{ headers: { "X-A": ["canary"] }, retryDelay: "500" }] },
  ]);
});

describe("the requested records", () => {
  it("are the steps of open plans, else of the last entry, and none for a run that has returned", () => {
    const group = spans({ role: "plan", from: 1, to: 3 }, { role: "result", from: 2, to: 2 });

    expect(deliveriesShown(aRun({ history: group }))).toEqual(["p1", "p3"]);
    expect(deliveriesShown(aRun())).toEqual(["start"]);
    expect(deliveriesShown(aRun({ state: failedAt("start") }))).toEqual([]);
    expect(deliveriesShown(aRun({ state: canceled }))).toEqual([]);
  });
});

describe("a run whose bodies and headers are redacted", () => {
  it("shows no byte of them", () => {
    const redaction = { body: true, headers: "all" } as const;
    const plan = { ...aRun().plan, policy: aPolicy({ redaction }) };
    const call = {
      stepType: "Call",
      callBody: "canary",
      callHeaders: { "X-Call": ["canary"] },
      out: JSON.stringify({ status: 200, body: "canary", header: { "X-Answer": ["canary"] } }),
    };
    const run = aRun({
      plan,
      history: spans({ role: "result", from: 1, to: 2 }),
      state: failedAt("s2"),
    });
    const parts = [part("s1", step(1, call)), part("s2", step(2)), part("e", { is: "canary" })];
    const told = part("f", { header: { "X-Answer": ["canary"] } });
    const body = Buffer.from("canary").toString("base64");
    const answered = part("r", { status: 200, headers: [["X-Answer", "canary"]], body });
    const [, asked] = part("c2", { is: "canary" });
    parts.push(["c2", { ...asked, sent }], part("a2", { status: 200, header: {}, body }));
    const attempts = [failed("s1", 1), failed("c2", 2), failed("f", 3)];

    const shown = runJson(
      reading(run, [...parts, told, answered, part("x", { is: "canary" })], [], { attempts }),
      view,
      true,
    );

    expect(JSON.stringify(shown)).toContain("REDACTED:");
    expect(JSON.stringify(shown)).not.toContain("canary");
    expect(shown).toMatchObject({
      failureFunction: {
        state: "CALLBACK_SUCCESS",
        responseStatus: 200,
        responseBody: expect.stringContaining("REDACTED:") as unknown,
      },
    });
  });
});

describe("a step whose endpoint has written arbitrary fields", () => {
  const aRaw = (text: string): readonly [PartName, RunPart] => [
    "s1",
    { name: "s1", at: epochStart + 1, body: new TextEncoder().encode(text) },
  ];
  const run = aRun({ history: spans({ role: "result", from: 1, to: 1 }) });
  const stepOf = (text: string, bodyBytesMax?: number) => {
    const seen = { ...view, ...(bodyBytesMax !== undefined && { bodyBytesMax }) };
    return stepGroups(reading(run, [aRaw(text)], [], { seen }), seen)[1]?.steps[0];
  };
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);

  it.each<[string, string, string | undefined]>([
    ["a text", '"a\\n\\u00e9"', "a\né"],
    ["a number", "1.50", "1.50"],
    ["an object", '{ "a": [1, "é"] }', '{ "a": [1, "é"] }'],
    ["nothing", "null", undefined],
    ["many values", `[${"{},".repeat(100_000)}0]`, `[${"{},".repeat(100_000)}0]`],
  ])("shows its returned value: %s", (_, out, shown) => {
    expect(stepOf(`{"stepId":1,"stepName":"s","out":${out}}`)).toMatchObject({
      stepName: "s",
      ...(shown !== undefined && { out: shown }),
    });
  });

  it("shows no more of it than requested, and no half of a character", () => {
    expect(stepOf('{"stepId":1,"out":"aaé"}', 3)?.out).toBe("aa");
    expect(stepOf(`{"stepId":1,"out":"${"a".repeat(100_000)}"}`, 3)?.out).toBe("aaa");
  });

  it("is shown without it if it is nested too deep", () => {
    const step = stepOf(`{"stepId":1,"stepName":"s","out":${nested(20_000)}}`);

    expect(step).toMatchObject({ stepId: 1, state: "STEP_SUCCESS" });
    expect(step?.out).toBeUndefined();
  });

  it.each<[string, unknown, object]>([
    ["none", "no JSON", {}],
    [
      "of many values",
      { status: 200, body: "b", x: Array(5_000).fill([]) },
      { callResponseBody: "b" },
    ],
    ["deep", `{"status":200,"body":${nested(20_000)}}`, {}],
    ["as it was told", { status: 200, body: "b" }, { callResponseStatus: 200 }],
  ])("is a call whose answer is %s", (_, answer, shown) => {
    const out = typeof answer === "string" ? answer : JSON.stringify(answer);
    const step = stepOf(JSON.stringify({ stepId: 1, stepType: "Call", callUrl: "u", out }));

    expect(step).toMatchObject({ callUrl: "u", out, ...shown });
  });
});

describe("a member of a group that waits for a call", () => {
  it("shows its request, and keeps its name and its place in the group", () => {
    const plan = { stepName: "asks", stepType: "Call", callType: "step", concurrent: 2 };
    const [name, asked] = part("c1", { asked: true });
    const run = aRun({
      history: spans({ role: "plan", from: 1, to: 2 }),
      state: { ...active, pending: [{ kind: "call", step: 1, isAnswered: false }] },
    });
    const parts = [part("p1", plan), part("p2", step(0)), [name, { ...asked, sent }] as const];

    const [, group] = stepGroups(reading(run, parts), view);

    expect(group?.steps[0]).toMatchObject({
      ...{ stepId: 1, stepName: "asks", concurrent: 2, callType: "toCallback" },
      ...{ state: "STEP_PROGRESS", callUrl: "https://third.example/", callMethod: "PUT" },
      ...{ callHeaders: { "X-A": ["canary"] }, callBody: '{"asked":true}' },
    });
    expect(group?.steps).toHaveLength(2);
  });
});

describe("a step that has invoked a run", () => {
  const childRoot = messageId("msg_00000000000000000000000002");
  const invokes = { kind: "invoke", step: 1, childId: runId("child"), childRoot } as const;
  const childOf = (redaction?: Redaction) =>
    part("v1", {
      child: {
        run: { kind: "start", id: "child", features: [], headers: [["X-A", "canary"]] },
        destination: { kind: "url", url: "https://child.example/" },
        policy: { labels: [], ...(redaction && { redaction }) },
        body: Buffer.from("canary").toString("base64"),
      },
      step: { stepId: 1, stepName: "child", stepType: "Invoke", concurrent: 1 },
    });
  const shown = {
    ...{ invokedWorkflowRunId: "child", invokedWorkflowUrl: "https://child.example/" },
    ...{ invokedWorkflowRunBody: "canary", invokedWorkflowRunHeaders: { "X-A": ["canary"] } },
  };
  const under = aRun({ state: { ...active, pending: [invokes] } });
  const done = aRun({ history: spans({ role: "result", from: 1, to: 1 }) });

  it("shows the run and its payload while the run is active and when it has ended", () => {
    const [, running] = stepGroups(reading(under, [childOf()]), view);
    const [, ended] = stepGroups(reading(done, [childOf(), part("s1", step(1))]), view);

    expect(running?.steps).toMatchObject([{ ...shown, state: "STEP_PROGRESS" }]);
    expect(ended?.steps).toMatchObject([{ ...shown, state: "STEP_SUCCESS", out: "canary" }]);
  });

  it("shows when that run was created, once it is known", () => {
    const created = part("i1", { createdAt: epochStart + 7 });
    const since = { ...shown, invokedWorkflowCreatedAt: epochStart + 7 };
    const [, running] = stepGroups(reading(under, [childOf(), created]), view);
    const [, ended] = stepGroups(reading(done, [childOf(), created, part("s1", step(1))]), view);

    expect([running?.steps, ended?.steps]).toMatchObject([[since], [since]]);
  });

  it("shows the end of that run also if the run itself had ended before, alone and in a group", () => {
    const pending = [{ ...invokes, isLogged: true as const }];
    const canceled = { kind: "canceled", endedAt: epochStart, pending } as const;
    const history = spans({ role: "plan", from: 1, to: 2 });
    const planned = [part("p1", step(0)), part("p2", step(0))];
    const parts = [childOf(), part("s1", step(1))];
    const [, alone] = stepGroups(reading(aRun({ state: canceled }), parts), view);
    const inGroup = reading(aRun({ state: canceled, history }), [...parts, ...planned]);
    const [, group] = stepGroups(inGroup, view);

    const success = { ...shown, state: "STEP_SUCCESS", out: "canary" };
    expect(alone).toMatchObject({ type: "sequential", steps: [success] });
    expect(group).toMatchObject({ type: "parallel", steps: [success, { state: "STEP_CANCELED" }] });
  });

  it("shows of it nothing that either of the two redacts", () => {
    const all: Redaction = { body: true, headers: "all" };
    const plan = { ...under.plan, policy: aPolicy({ redaction: all }) };

    for (const read of [reading({ ...under, plan }, [childOf()]), reading(under, [childOf(all)])]) {
      const [, group] = stepGroups(read, view);
      expect(JSON.stringify(group)).toContain("REDACTED");
      expect(JSON.stringify(group)).not.toContain("canary");
    }
  });
});

describe("attempts that failed", () => {
  const errorsOf = (of: RunReading) =>
    stepGroups(of, view).map(({ steps }) =>
      steps.map(({ errors = [] }) =>
        errors.map(({ status, time }) => `${status} ${time - epochStart}`),
      ),
    );

  it("are shown at the step of their delivery, whether it is done or not", () => {
    const history = spans(
      { role: "result", from: 1, to: 1 },
      { role: "plan", from: 2, to: 3 },
      { role: "result", from: 3, to: 3 },
    );
    const parts = [
      part("s1", step(1)),
      part("p2", step(0)),
      part("p3", step(0)),
      part("s3", step(3)),
    ];
    const attempts = [failed("start", 1), failed("p2", 2), failed("p3", 3), failed("s1", 4)];

    expect(errorsOf(reading(aRun({ history }), parts, [], { attempts }))).toEqual([
      [[]],
      [["503 1"]],
      [["503 2"], ["503 3"]],
    ]);
  });

  it("are followed by the one by which the run has failed", () => {
    const run = aRun({ state: failedAt("start") });

    const attempts = [failed("start", 1, { error: "it is away" })];

    expect(errorsOf(reading(run, [], [], { attempts })).at(-1)).toEqual([["503 1", "500 9"]]);
  });
});
