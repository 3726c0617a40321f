import { describe, expect, it } from "@jest/globals";
import {
  type Headers,
  messageId,
  type MessageRecord,
  type PartName,
  type Redaction,
  type Run,
  runId,
  type RunPart,
} from "@posthaste/domain";
import { stepGroups } from "./run-view.ts";
import {
  view,
  epochStart,
  aPolicy,
  active,
  waits,
  canceled,
  failedAt,
  aRun,
  spans,
  part,
  reading,
  retriedAt,
  sent,
  failed,
  step,
} from "./run-view.fixture.ts";

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
