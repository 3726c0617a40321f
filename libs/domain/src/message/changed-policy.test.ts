import { describe, expect, it } from "@jest/globals";
import { aCallbackPlan } from "@posthaste/testing";
import { refusalOfCallback } from "./changed-policy.ts";

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
