import { describe, expect, it } from "@jest/globals";
import { aRun, epochStart } from "@posthaste/testing";
import { append, awaiting, finish } from "./change.ts";
import { type StepKey } from "./order.ts";
import { type Pending } from "./run.ts";
import { isStuck } from "./open-entries.ts";

const plan = (step: number): StepKey => ({ role: "plan", step });
const result = (step: number): StepKey => ({ role: "result", step });
const aCall: Pending = { kind: "call", step: 2, isAnswered: true };

function after(...did: readonly (readonly StepKey[] | Pending)[]) {
  let run = aRun();
  for (const each of did) {
    if ("kind" in each) run = awaiting(run, each) ?? run;
    else {
      const appended = append(run, each);
      if (appended.kind === "appended") run = appended.run;
    }
  }
  return run;
}

describe("a run whose delivery was answered stands still", () => {
  it.each([
    ["where its start has caused no step", after(), "start"],
    ["where its last step has caused none", after([result(1)]), "s1"],
    ["where a planned step has no result", after([plan(1), plan(2)], [result(2)]), "p1"],
    ["where the answer of a call has caused none", after([result(1)], aCall), "a2"],
  ] as const)("%s", (_, run, part) => {
    expect(isStuck(run, part)).toBe(true);
    expect(isStuck(finish(run, epochStart), part)).toBe(false);
  });

  it.each([
    ["where a step has followed", after([result(1)]), "start"],
    ["where a member of the group is open yet", after([plan(1), plan(2)], [result(2)]), "s2"],
    ["where it waits for a call", after([result(1)], aCall), "s1"],
  ] as const)("but not %s", (_, run, part) => {
    expect(isStuck(run, part)).toBe(false);
  });
});
