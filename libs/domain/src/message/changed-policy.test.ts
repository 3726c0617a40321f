import { describe, expect, it } from "@jest/globals";
import { aCallbackPlan } from "@posthaste/testing";
import { refusalOfCallback, changedFlow, faultOfFlow } from "./changed-policy.ts";
import { isFault } from "../shared/fault.ts";

const redaction = { body: true, headers: [] };
const [callback, failureCallback] = [aCallbackPlan(), aCallbackPlan()];

describe("a callback that a retry adds", () => {
  it.each([
    [
      "of a message that redacts is refused to operate",
      { redaction },
      { callback },
      "operate",
      true,
    ],
    ["for failures is refused as well", { redaction }, { failureCallback }, "operate", true],
    ["is allowed to full", { redaction }, { callback }, "full", false],
    ["of a message that redacts nothing is allowed", {}, { callback }, "operate", false],
    ["is the only change that is refused", { redaction }, { retriesMax: 1 }, "operate", false],
  ] as const)("%s", (_, stored, asked, scope, isRefused) => {
    expect(refusalOfCallback(stored, asked, scope) !== undefined).toBe(isRefused);
  });
});

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
