import { describe, expect, it } from "@jest/globals";
import { aMessage, anAnswer, aRun, epochStart, newId } from "@posthaste/testing";
import { type Headers } from "../message/headers.ts";
import { type Outcome, isSuccess } from "../message/outcome.ts";
import { append, finish } from "./change.ts";
import { asUnmarked, isMarked, lacksMark, needsMark, unmarked } from "./marks.ts";
import { type Run } from "./run.ts";

const marked: Headers = [["Upstash-Workflow-Sdk-Version", "1"]];

const inRun = (run: Run, part: string) => {
  const { createdAt, id, key, root } = run;
  return { createdAt, id, key, root, part, bytes: 0 };
};

describe("the mark of a workflow", () => {
  it.each<[headers: Headers, is: boolean]>([
    [marked, true],
    [[["upstash-workflow-sdk-version", " 1 "]], true],
    [[["content-type", "text/html"], ...marked], true],
    [[], false],
    [[["Upstash-Workflow-Sdk-Version", "2"]], false],
    [[["Upstash-Workflow-Sdk-Version", ""]], false],
    [[["Service-Workflow-Sdk-Version", "1"]], false],
    [[["Upstash-Workflow-Sdk", "v1.3.3"]], false],
  ])("is the version of its protocol in the run's own dialect: %j", (headers, is) => {
    expect(isMarked("upstash", headers)).toBe(is);
  });

  it.each<[part: string, outcome: Outcome, lacks: boolean]>([
    ["s1", anAnswer(200), true],
    ["p1", anAnswer(204), true],
    ["a1", anAnswer(200), true],
    ["adopted", anAnswer(200), true],
    ["s1", anAnswer(200, { headers: marked }), false],
    // The start is checked when it is settled.
    ["start", anAnswer(200), false],
    // The answers of a third party and of a failure function, which may be no workflow.
    ["c1", anAnswer(200), false],
    ["f", anAnswer(200), false],
    ["s1", anAnswer(302), false],
    ["s1", anAnswer(500), false],
  ])("is missing in a success of the run's endpoint alone: %s", (part, outcome, lacks) => {
    const message = aMessage({ dialect: "upstash", run: inRun(aRun(), part) });

    expect(lacksMark(message, outcome)).toBe(lacks);
  });

  it("is needed where a start was answered with it, of a delivery that has caused nothing", () => {
    const appended = append(aRun({ marks: "expected" }), [{ role: "result", step: 1 }]);
    if (appended.kind === "refused") throw new Error(appended.text);
    const { run } = appended;

    expect(needsMark(run, inRun(run, "s1"))).toBe(true);
    expect(needsMark(run, inRun(run, "start"))).toBe(false);
    expect(needsMark(finish(run, epochStart), inRun(run, "s1"))).toBe(false);
    expect(needsMark(undefined, inRun(run, "s1"))).toBe(false);
    expect(needsMark({ ...run, root: newId() }, inRun(run, "s1"))).toBe(false);
    for (const marks of ["none", undefined] as const) {
      const { marks: _, ...other } = run;
      expect(needsMark({ ...other, ...(marks && { marks }) }, inRun(run, "s1"))).toBe(false);
    }
  });

  it("is expected until a start without it is known, which is known once", () => {
    const run = aRun({ marks: "expected" });
    const known = unmarked(run);

    expect(known).toEqual({ ...run, marks: "none", version: run.version + 1 });
    expect(known && unmarked(known)).toBeUndefined();
    expect(unmarked(finish(run, epochStart))).toBeUndefined();
    expect(unmarked(aRun())).toBeUndefined();
  });

  it("makes an answer without it a failure that names the missing header", () => {
    const refused = asUnmarked("service", anAnswer(204));

    expect(isSuccess(refused)).toBe(false);
    expect(refused.refused).toContain("204, has no header Service-Workflow-Sdk-Version: 1");
  });
});
