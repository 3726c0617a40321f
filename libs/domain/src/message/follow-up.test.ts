import { describe, expect, it } from "@jest/globals";
import { aCallbackPlan, aClaimedRecord, anAnswer, anAttempt, aPolicy } from "@posthaste/testing";
import { deadLetterOf } from "./dead-letter.ts";
import { settleAttempt } from "./settle.ts";

const plan = aCallbackPlan();
const inputs = { chance: 0, retryDelayMs: undefined };
const policy = aPolicy({ callback: plan, failureCallback: plan, retriesMax: 1 });
const attemptOf = (retried: number) =>
  settleAttempt(
    aClaimedRecord({ policy, retried }),
    anAttempt(anAnswer(500, { body: "no" })),
    inputs,
  ).append;

describe("a dead letter", () => {
  it("holds the whole message, why it failed, and the last answer of the destination", () => {
    const { message } = aClaimedRecord({ policy });
    const [item] = attemptOf(1);
    if (item?.kind !== "deadLetter")
      throw new Error("the first follow-up of a failure is its dead letter");

    expect(deadLetterOf(message, item)).toEqual({
      id: item.dlqId,
      failedAt: item.failedAt,
      reason: "retries_exhausted",
      message,
      retried: 1,
      response: {
        status: 500,
        headers: [],
        body: new TextEncoder().encode("no"),
        truncated: false,
      },
    });
  });
});
