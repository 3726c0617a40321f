import { describe, expect, it } from "@jest/globals";
import { defaultPlan } from "@posthaste/domain";
import { changedPlan } from "./plan.ts";

describe("a plan", () => {
  it("is changed in the named fields, and keeps the rest", () => {
    expect(changedPlan(defaultPlan, { retriesMax: 5, backlogMax: undefined })).toEqual({
      ...defaultPlan,
      retriesMax: 5,
    });
  });

  it("never has more retries by default than at most", () => {
    const refused = {
      fault: "malformed",
      text: "plan.retriesDefault: must be at most plan.retriesMax, 2",
    };

    expect(changedPlan(defaultPlan, { retriesMax: 2 })).toEqual(refused);
    expect(changedPlan(defaultPlan, { retriesMax: 2, retriesDefault: 3 })).toEqual(refused);
    expect(changedPlan(defaultPlan, { retriesMax: 2, retriesDefault: 2 })).toMatchObject({
      retriesMax: 2,
      retriesDefault: 2,
    });
  });
});
