import { describe, expect, it } from "@jest/globals";
import { type Redaction } from "@posthaste/domain";
import { sha256 } from "../representations/message.fixture.ts";
import { waiterJson } from "./waiter.ts";

const headers = {
  "Upstash-Workflow-Runid": ["wfr_1"],
  "Upstash-Forward-Upstash-Workflow-Sdk-Version": ["1"],
  "Upstash-Forward-Secret": ["canary"],
  "Upstash-Failure-Callback-Forward-Secret": ["canary"],
  Secret: ["canary", "canary"],
  "Content-Type": ["application/json"],
};
const waiter = {
  url: "https://endpoint.example/",
  deadline: 1,
  headers,
  timeoutHeaders: headers,
  timeoutBody: "canary",
};
const shown = (redaction: Redaction | undefined) => {
  const policy = { timeoutMs: 1_000, retriesMax: 3, labels: [], ...(redaction && { redaction }) };
  return waiterJson(waiter, { plan: { features: [], headers: [], policy } }, sha256);
};
const hidden = `REDACTED:${sha256("canary")}`;

describe("a waiter", () => {
  it("is shown unchanged if its run redacts nothing", () => {
    expect(shown(undefined)).toEqual(waiter);
  });

  it("shows no header that its run redacts, under any prefix", () => {
    const {
      headers: all,
      timeoutBody,
      timeoutHeaders,
    } = shown({ body: false, headers: ["secret"] });

    expect(all).toEqual({
      ...headers,
      "Upstash-Forward-Secret": [hidden],
      "Upstash-Failure-Callback-Forward-Secret": [hidden],
      Secret: [hidden, hidden],
    });
    expect(timeoutHeaders).toEqual(all);
    expect(timeoutBody).toBe("canary");
  });

  it("keeps the names by which clients know its run where all headers are redacted", () => {
    const json = shown({ body: true, headers: "all" });

    expect(json.headers).toMatchObject({
      "Upstash-Workflow-Runid": ["wfr_1"],
      "Upstash-Forward-Upstash-Workflow-Sdk-Version": ["1"],
      "Content-Type": [`REDACTED:${sha256("application/json")}`],
    });
    expect(JSON.stringify(json)).not.toContain("canary");
  });
});
