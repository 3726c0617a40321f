import { describe, expect, it } from "@jest/globals";
import { describeReadiness } from "./readiness.ts";

describe("how ready a service is, in words", () => {
  it.each([
    { status: 200, body: { ready: true }, words: "ready" },
    {
      status: 200,
      body: { ready: true, degraded: ["bus: away"] },
      words: "ready, but bus: away",
    },
    {
      status: 503,
      body: { ready: false, missing: ["documents: away", "accounts: none"] },
      words: "not ready: documents: away; accounts: none",
    },
    { status: 503, body: "?", words: "not ready: " },
  ])("$status is described as: $words", ({ status, body, words }) => {
    expect(describeReadiness(status, body)).toBe(words);
  });
});
