import { describe, expect, it } from "@jest/globals";
import { aRun, epochStart } from "@posthaste/testing";
import { failRun, functionAgain, functionCanceled, functionEnded, isTelling } from "./change.ts";
import { partKeyOf, partOf } from "./part-key.ts";
import { type FailureFunction, type RunIn } from "./run.ts";

function failedWith(told?: FailureFunction): RunIn<"failed"> {
  const reason = "retries_exhausted" as const;
  const failure = { reason, ...(told && { function: told }) };
  const failed = failRun(aRun(), { role: "start" }, failure, epochStart);
  if (!failed) throw new Error("it fails");
  return failed;
}

const at = (round: number, state: FailureFunction["state"]): FailureFunction => ({ round, state });
const functionOf = (run: RunIn<"failed"> | undefined) => run?.state.failure.function;

describe("rounds of a failure function", () => {
  it("have names of their own", () => {
    const named = (role: "told" | "reply") => [1, 2, 10].map((round) => partOf({ role, round }));
    expect(named("told")).toEqual(["f", "f2", "f10"]);
    expect(named("reply")).toEqual(["r", "r2", "r10"]);
    expect(named("told").map(partKeyOf)).toEqual(
      [1, 2, 10].map((round) => ({ role: "told", round })),
    );
    for (const name of ["f0", "f1", "f02", "fx"]) expect(partKeyOf(name)).toBeUndefined();
  });

  it("end once, and only the running round ends", () => {
    const failed = failedWith(at(2, "running"));

    expect(isTelling(failed, 2)).toBe(true);
    expect(functionOf(functionEnded(failed, 2, "succeeded"))).toEqual(at(2, "succeeded"));
    expect(functionOf(functionEnded(failed, 2, "failed"))).toEqual(at(2, "failed"));
    expect(functionEnded(failed, 1, "failed")).toBeUndefined();
    for (const run of [aRun(), failedWith(), failedWith(at(2, "canceled"))]) {
      expect(isTelling(run, 2)).toBe(false);
      expect(functionEnded(run, 2, "failed")).toBeUndefined();
    }
  });

  it.each([
    ["running", undefined, at(3, "canceled")],
    ["succeeded", undefined, undefined],
    ["failed", at(4, "running"), undefined],
    ["canceled", at(4, "running"), undefined],
  ] as const)(
    "of one that is %s another may come, or it is cancelled",
    (state, again, canceled) => {
      const failed = failedWith(at(3, state));

      expect(functionOf(functionAgain(failed))).toEqual(again);
      expect(functionOf(functionCanceled(failed))).toEqual(canceled);
    },
  );

  it("do not exist for a run that has no function, or has not failed", () => {
    for (const run of [failedWith(), aRun()]) {
      expect(functionAgain(run)).toBeUndefined();
      expect(functionCanceled(run)).toBeUndefined();
    }
  });
});
