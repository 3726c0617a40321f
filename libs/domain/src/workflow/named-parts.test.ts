import { expect, it } from "@jest/globals";
import { aRun } from "@posthaste/testing";
import { append } from "./change.ts";
import { namesPart } from "./named-parts.ts";
import { type RunIn } from "./run.ts";

function aBusyRun(): RunIn<"active"> {
  const steps = [
    { role: "result", step: 1 },
    { role: "plan", step: 2 },
    { role: "plan", step: 3 },
  ] as const;
  const appended = append(aRun(), steps);
  if (appended.kind === "refused") throw new Error(appended.text);
  const pending = [
    { kind: "call", step: 4, isAnswered: false },
    { kind: "call", step: 5, isAnswered: true },
    { kind: "wait", step: 6, event: "e", deadline: 1 },
  ] as const;
  return {
    ...appended.run,
    state: { kind: "active", pending, notes: [{ event: "e", part: "n7" }] },
  };
}

it.each([
  ["start", true],
  ["adopted", false],
  ["s1", true],
  ["s2", false],
  ["p2", true],
  ["p4", false],
  ["c4", true],
  ["a4", false],
  ["a5", true],
  ["w6", true],
  ["w4", false],
  ["v6", false],
  ["n7", true],
  ["n8", false],
  ["e", false],
])("whether a head names the part %s is %s", (name, isNamed) => {
  expect(namesPart(aBusyRun(), name)).toBe(isNamed);
});
