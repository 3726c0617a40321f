import { describe, expect, it } from "@jest/globals";
import { deliveriesShown } from "@posthaste/domain";
import { runHeadJson, runJson, stepGroups } from "./run-view.ts";
import { type RunReading } from "./step-view.ts";
import {
  view,
  epochStart,
  aPolicy,
  active,
  waits,
  waiting,
  canceled,
  calls,
  failedAt,
  aRun,
  spans,
  part,
  reading,
  retriedAt,
  sent,
  failed,
  outline,
  step,
  init,
} from "./run-view.fixture.ts";

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
