import { describe, expect, it } from "@jest/globals";
import { aRun } from "@posthaste/testing";
import { dlqIdOf, runId } from "../shared/ids.ts";
import { extended, newOrder, type StepKey } from "./order.ts";
import { type PartName } from "./part-key.ts";
import { type Pending, type Run, type RunState } from "./run.ts";
import { type Known, storyOf } from "./story.ts";

const { root } = aRun();
const result = (step: number): readonly StepKey[] => [{ role: "result", step }];
const group: readonly StepKey[] = [1, 2].map((step) => ({ role: "plan", step }));
const call = { kind: "call", step: 1, isAnswered: true } as const;
const wait = { kind: "wait", step: 1, event: "e", deadline: 9 } as const;
const invoke = { kind: "invoke", step: 1, childId: runId("b"), childRoot: root } as const;

const active = (...pending: readonly Pending[]): RunState => ({
  ...{ kind: "active", pending, notes: [] },
});
const canceled = (...pending: readonly Pending[]): RunState => ({
  ...{ kind: "canceled", pending, endedAt: 5 },
});
const returned: RunState = { kind: "succeeded", pending: [], endedAt: 5 };
const failed = (at: PartName): RunState => ({
  ...{ kind: "failed", pending: [], notes: [], endedAt: 5 },
  failure: { dlqId: dlqIdOf(root, 5), at, inDlq: true, reason: "retries_exhausted" },
});

const after = (state: RunState, ...published: readonly (readonly StepKey[])[]): Run => ({
  ...aRun(),
  ...{ state, reached: 0, history: published.reduce(extended, newOrder) },
});

const held = (retried: number): Known["progress"] =>
  new Map([["s1", { state: { kind: "held", dueAt: 7 }, retried, retriesMax: 3 }]]);

const told = (run: Run, progress: Known["progress"] = new Map(), sleepsUntil?: number) =>
  storyOf(run, { progress, sleepsUntil: () => sleepsUntil }).map(({ steps, type }) =>
    [
      type,
      ...steps.map((step) =>
        [step.step, step.kind, ...("standing" in step ? [step.standing] : [])].join(" "),
      ),
    ].join(": "),
  );

describe("the story of a run", () => {
  it.each<readonly [string, Run, readonly string[]]>([
    ["has begun", after(active()), ["next: 1 running open"]],
    ["has failed at its start", after(failed("start")), ["next: 1 running failed"]],
    ["has a step", after(active(), result(1)), ["sequential: 1 done", "next: 1 running open"]],
    ["has returned", after(returned, result(1)), ["sequential: 1 done"]],
    ["calls", after(active(call)), ["sequential: 1 called open"]],
    ["waits", after(active(wait)), ["sequential: 1 waiting open"]],
    ["waited when it was cancelled", after(canceled(wait)), ["sequential: 1 waiting canceled"]],
    ["has invoked a run", after(active(invoke)), ["sequential: 1 invoked open"]],
    ["has heard too late", after(canceled({ ...invoke, isLogged: true })), ["sequential: 1 done"]],
    ["has a group", after(active(), group), ["parallel: 1 planned open: 2 planned open"]],
    ["has a member done", after(active(), group, result(2)), ["parallel: 1 planned open: 2 done"]],
    ["waits in a group", after(active(wait), group), ["parallel: 1 waiting open: 2 planned open"]],
    [
      "has failed in a group",
      after(failed("p2"), group),
      ["parallel: 1 planned canceled: 2 planned failed"],
    ],
  ])("that %s", (_, run, lines) => {
    expect(told(run)).toEqual(lines);
  });

  it("shows a sleep as under way until its time is up, though its result is in the history", () => {
    const run = after(active(), result(1));

    expect(told(run, held(0), 7)).toEqual(["sequential: 1 sleeping open"]);
    expect(told(run, held(1), 7)).toEqual(["sequential: 1 done", "next: 1 running retried"]);
    expect(told(after(canceled(), result(1)), new Map(), 6)).toEqual([
      "sequential: 1 sleeping canceled",
    ]);
    expect(told(after(canceled(), result(1)), new Map(), 4)).toEqual([
      ...["sequential: 1 done", "next: 1 running canceled"],
    ]);
  });
});
