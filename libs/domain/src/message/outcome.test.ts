import { describe, expect, it } from "@jest/globals";
import { anAnswer } from "@posthaste/testing";
import { asResult, type BrokenBy, type Outcome } from "./outcome.ts";

const broken = (status: number, brokenBy: BrokenBy): Outcome => ({
  ...anAnswer(status, { body: "half", truncated: true }),
  brokenBy,
});

describe("an answer that is a result", () => {
  it.each([
    ["destination", { kind: "unreachable", code: "connection_lost" }],
    ["room", { kind: "infrastructure", code: "out_of_room" }],
    ["abort", { kind: "aborted" }],
  ] as const)("is none where it was broken by: %s", (brokenBy, expected) => {
    expect(asResult(broken(200, brokenBy))).toMatchObject(expected);
  });

  it("that broke off says how much of it came", () => {
    expect(asResult(broken(201, "destination"))).toHaveProperty(
      "text",
      "the answer, of status 201, was cut off after 4 bytes",
    );
  });

  it.each<[string, Outcome]>([
    ["is whole", anAnswer(200)],
    ["was cut at the bound", anAnswer(200, { truncated: true })],
    ["is a failure, whole", anAnswer(500)],
    ["is a failure that broke off", broken(500, "destination")],
    ["is none", { kind: "unreachable", code: "timeout", text: "late" }],
    ["was aborted", { kind: "aborted" }],
  ])("is unchanged if it %s", (_what, outcome) => {
    expect(asResult(outcome)).toBe(outcome);
  });
});
