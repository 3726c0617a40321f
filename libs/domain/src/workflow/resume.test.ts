import { describe, expect, it } from "@jest/globals";
import { aRun, epochStart } from "@posthaste/testing";
import * as fc from "fast-check";
import { runAliasesMax } from "../shared/limits.ts";
import { messageId, runId, runKey, tenantId } from "../shared/ids.ts";
import { append, awaiting, failRun } from "./change.ts";
import { partOf } from "./part-key.ts";
import { has, type StepKey } from "./order.ts";
import { loggedInvocation } from "./waits.ts";
import { openEntries } from "./open-entries.ts";
import { inheritedParts, isMadeOf, resumedRun } from "./resume.ts";
import { isFailed, type Pending, type RunIn } from "./run.ts";

const plan = (step: number): StepKey => ({ role: "plan", step });
const result = (step: number): StepKey => ({ role: "result", step });
const aCall = (step: number, isAnswered = false): Pending => ({ kind: "call", step, isAnswered });
const aWait = (step: number): Pending => ({ kind: "wait", step, event: "e", deadline: 5 });
const anInvocation = (step: number): Pending => ({
  ...{ kind: "invoke", step },
  ...{ childId: runId("child"), childRoot: messageId("msg_child") },
});

/** A change of a run before it failed. The keys of one array are published together. */
type Did = readonly StepKey[] | Pending;

function failedAfter(...did: readonly Did[]): RunIn<"failed"> {
  let run = aRun();
  for (const each of did) {
    if ("kind" in each) run = awaiting(run, each) ?? run;
    else {
      const appended = append(run, each);
      if (appended.kind === "appended") run = appended.run;
    }
  }
  // No run has the failed step, so no run is past it.
  const failed = failRun(run, plan(9_999), { reason: "retries_exhausted" }, epochStart);
  if (!failed) throw new Error("the run has not failed");
  return failed;
}

const use = (overrides: object = {}) => {
  const [id, root] = [runId("new"), messageId("msg_new")];
  return {
    ...{ id, root, key: runKey(tenantId("t"), id, 1), generation: 1, shard: 3, callerIp: "::1" },
    ...{ createdAt: epochStart + 9, plan: aRun().plan, deadlines: new Map<number, number>() },
    ...overrides,
  };
};

describe("the deliveries that are repeated", () => {
  const group = [plan(2), plan(3), plan(4)];
  it.each<readonly [string, readonly Did[], readonly string[]]>([
    ["the start of a run without a step", [], ["start"]],
    ["the last of steps in sequence", [[result(1)], [result(2)]], ["s2"]],
    ["all plans of a group that has no result", [[result(1)], group], ["p2", "p3", "p4"]],
    ["the plans without a result", [[result(1)], group, [result(3)]], ["p2", "p4"]],
    [
      "the last result of a group that has all, whichever that is",
      [[result(1)], group, [result(3)], [result(4)], [result(2)]],
      ["s2"],
    ],
    ["nothing where a call is under way", [[result(1)], aCall(2)], []],
    ["nothing where the run waits", [aWait(1)], []],
    ["nothing where another run is awaited", [[result(1)], anInvocation(2)], []],
    ["of a group what is not pending", [[result(1)], group, aCall(2), aWait(3)], ["p4"]],
    ["the last entry after what was pending is done", [aWait(1), [result(1)]], ["s1"]],
  ])("is %s", (_, did, names) => {
    expect(openEntries(failedAfter(...did)).map(partOf)).toEqual(names);
  });

  it("are those of entries without a result, or of the last entry", () => {
    const step = fc.integer({ min: 1, max: 8 });
    const did = fc.oneof(
      step.map((n): Did => [result(n)]),
      fc
        .tuple(step, fc.integer({ min: 2, max: 4 }))
        .map(([from, n]): Did => Array.from({ length: n }, (__, i) => plan(from + i))),
      step.map((n): Did => aCall(n)),
      step.map((n): Did => aWait(n)),
    );
    fc.assert(
      fc.property(fc.array(did, { maxLength: 12 }), (all) => {
        const failed = failedAfter(...all);
        const { history, state } = failed;
        const open = openEntries(failed);
        const pending = state.pending.map((each) => each.step);

        // Something is left by which the run continues, and nothing that was done is done again.
        expect(open.length + pending.length).toBeGreaterThan(0);
        for (const key of open) {
          if (key.role !== "plan") expect(open).toHaveLength(1);
          else expect(has(history, result(key.step)) || pending.includes(key.step)).toBe(false);
        }
        for (const each of pending) expect(has(history, result(each))).toBe(false);
      }),
    );
  });
});

describe("a resumed run", () => {
  it("has the history of the failed one, and is another", () => {
    const failed = failedAfter([result(1)], [plan(2), plan(3)], [result(3)]);
    const run = resumedRun(failed, use(), epochStart + 9);

    const { bytes, dialect, history, reached, tenant, url } = failed;
    expect(run).toMatchObject({
      ...{ bytes, dialect, history, reached, tenant, url },
      ...{ id: "new", root: "msg_new", from: failed.key, version: failed.version + 1 },
      state: { kind: "active", pending: [], notes: [] },
    });
    expect(run).not.toHaveProperty("invoker");
    expect(isMadeOf(run, failed)).toBe(true);
    expect(isMadeOf(aRun(), failed)).toBe(false);
  });

  it("has the waits of the failed run, until a later time", () => {
    const failed = failedAfter(aCall(1, true), aWait(2), anInvocation(3));
    const run = resumedRun(failed, use({ deadlines: new Map([[2, 77]]) }), epochStart);

    expect(run.state.pending).toEqual([
      aCall(1, true),
      { ...aWait(2), deadline: 77 },
      { ...anInvocation(3), startBy: epochStart + 30_000 },
    ]);
    expect(inheritedParts(failed)).toEqual(["c1", "a1", "v3"]);
  });

  it("waits for the end of a run that the failed one has in its log", () => {
    const failed = failedAfter(anInvocation(1));
    const logged = loggedInvocation(failed, 1, messageId("msg_child"));
    if (!logged || !isFailed(logged)) throw new Error("it has it in its log");

    expect(resumedRun(logged, use(), epochStart).state.pending).toEqual([
      { ...anInvocation(1), startBy: epochStart + 30_000 },
    ]);
    expect(loggedInvocation(logged, 1, messageId("msg_child"))).toBeUndefined();
    expect(loggedInvocation(failed, 1, messageId("msg_other"))).toBeUndefined();
    expect(loggedInvocation(failed, 2, messageId("msg_child"))).toBeUndefined();
  });

  it("takes the events that came before their wait", () => {
    const failed = failedAfter();
    const notes = [{ event: "e", part: "n3" }];
    const noted = { ...failed, state: { ...failed.state, notes } };

    expect(resumedRun(noted, use(), epochStart).state.notes).toEqual(notes);
    expect(inheritedParts(noted)).toEqual(["n3"]);
  });

  it("is found by the ids of its predecessors, the last ones if there are many", () => {
    const names = Array.from({ length: runAliasesMax }, (_, i) => runId(`run-${i}`));
    const failed = { ...failedAfter(), id: runId("last"), aliases: names };
    const { aliases } = resumedRun(failed, use(), epochStart);

    expect(aliases).toEqual(["last", ...names.slice(0, -1)]);
  });
});
