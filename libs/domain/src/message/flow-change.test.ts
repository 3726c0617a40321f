import { describe, expect, it } from "@jest/globals";
import { isFault } from "../shared/fault.ts";
import { changedFlow, faultOfFlow } from "./flow-change.ts";

const two = { parallelism: 2, periodMs: 1_000 };
const nine = { parallelism: 9, periodMs: 1_000 };
const stored = { key: "api", limits: two };

describe("a change of flow control", () => {
  it.each([
    ["nothing keeps what is stored", undefined, stored],
    ["the limits alone keep the key", { limits: nine }, { key: "api", limits: nine }],
    ["the key alone keeps the limits", { key: "other" }, { key: "other", limits: two }],
    ["both replace both", { key: "other", limits: nine }, { key: "other", limits: nine }],
  ])("%s", (_, change, expected) => {
    expect(changedFlow(stored, change)).toEqual(expected);
    expect(faultOfFlow(stored, change)).toBeUndefined();
  });

  it("both replace nothing", () => {
    expect(changedFlow(undefined, stored)).toEqual(stored);
    expect(changedFlow(undefined, undefined)).toBeUndefined();
  });

  it.each([
    [{ limits: nine }, /^Flow-Control-Value: requires Flow-Control-Key/],
    [{ key: "other" }, /^Flow-Control-Key: requires Flow-Control-Value/],
  ])(
    "with one of two limits is refused if the key has neither, and names the other: %j",
    (change, text) => {
      const refused = faultOfFlow(undefined, change);

      expect(isFault(refused) && refused.text).toMatch(text);
    },
  );
});
