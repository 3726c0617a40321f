import { describe, expect, it } from "@jest/globals";
import { type Postponement } from "../publish/command.ts";
import { notBeforeOf, notBeforeOfStep } from "./gates.ts";

const now = 1_800_000_000_300;
const at = (ms: number): Postponement => ({ kind: "notBefore", at: now + ms });

describe("the time before which nothing is delivered", () => {
  it.each<readonly [string, Postponement | undefined, number, number]>([
    ["now, where none is said", undefined, 0, 0],
    ["a delay from now", { kind: "delay", delayMs: 2_000 }, 2_000, 2_000],
    ["the time that is said", at(5_001), 5_001, 5_001],
    ["now, for a time that has been", at(-5_001), 0, 0],
    ["half a second later for a step, at a whole second", at(4_700), 4_700, 5_200],
    ["so also at a whole second that was a moment ago", at(-300), 0, 200],
    ["now, for a whole second that was longer ago", at(-1_300), 0, 0],
  ])("is %s", (_, postponement, ofMessage, ofStep) => {
    const command = { ...(postponement && { postponement }) };

    expect([notBeforeOf(command, now) - now, notBeforeOfStep(command, now) - now]).toEqual([
      ofMessage,
      ofStep,
    ]);
  });
});
