import { describe, expect, it } from "@jest/globals";
import { parseWait } from "./wait-body.ts";

describe("a wait that is none", () => {
  it.each([
    ["body", []],
    ["body", "text"],
    ["url", { step: { stepId: 1 } }],
    ["step.stepId", { url: "https://a.example", step: { stepId: "1" } }],
  ])("is refused by its place, %s", (place, json) => {
    expect(parseWait(json)).toMatchObject({
      fault: "run_refused",
      text: expect.stringMatching(new RegExp(`^${place}: `)),
    });
  });
});
