import { describe, expect, it } from "@jest/globals";
import { type DeadLetter } from "@posthaste/client/api";
import { failedAt, groupsOf, isAt, placeOf, reasonOf } from "./letters.ts";

const letter = (
  dlqId: string,
  url: string,
  responseStatus: number,
  error?: string,
): DeadLetter => ({
  ...{ dlqId, url, responseStatus, ...(error !== undefined && { error }) },
  ...{ messageId: `m${dlqId}`, method: "POST", timeout: 1, maxRetries: 0, header: {} },
  ...{ notBefore: 0, createdAt: 0, callerIP: "192.0.2.1" },
});

describe("dead letters", () => {
  it("are grouped by where they went and why they failed, the largest group first", () => {
    const letters = [
      letter("40-a", "https://a.example/x?id=3", 500),
      letter("30-b", "https://b.example/", 0, "connection refused"),
      letter("20-c", "https://a.example/x?id=2", 500),
      letter("10-d", "https://a.example/x?id=1", 404),
    ];

    expect(groupsOf(letters)).toMatchObject([
      { place: "https://a.example/x", reason: "status 500", count: 2, since: 20, last: 40 },
      { place: "https://b.example/", reason: "connection refused", count: 1 },
      { place: "https://a.example/x", reason: "status 404", count: 1 },
    ]);
  });

  it("say why each failed, and when by its id", () => {
    expect(reasonOf(letter("1-a", "https://a.example", 302, "redirects to /x"))).toBe(
      "status 302, redirects to /x",
    );
    expect(reasonOf(letter("1-a", "https://a.example", 0))).toBe("no answer");
    expect([failedAt("dlq_17-x"), failedAt("17-x"), failedAt("x")]).toEqual([17, 17, undefined]);
  });

  it.each([
    ["a.example", true],
    ["a.example:8443", true],
    ["a.example:443", false],
    ["example", false],
    [undefined, true],
  ])("are at the host %s: %s", (host, is) => {
    expect(isAt(host, "https://a.example:8443/x")).toBe(is);
  });

  it("of a destination that is no URL have it as their place", () => {
    expect(placeOf("api/llm")).toBe("api/llm");
    expect(isAt("a.example", "api/llm")).toBe(false);
  });
});
