import { describe, expect, it } from "@jest/globals";
import { parseWait } from "./wait-body.ts";

describe("a wait that is none", () => {
  it.each([
    ["body", []],
    ["body", "text"],
    ["url", { step: { stepId: 1 } }],
    ["step.stepId", { url: "https://a.example", step: { stepId: "1" } }],
  ])("is refused by its place, %s", (place, json) => {
    expect(parseWait(json)).toMatchObject({
      fault: "run_refused",
      text: expect.stringMatching(new RegExp(`^${place}: `)),
    });
  });
});

it.each([
  [1.5, 1_500],
  ["1.5s", 1_500],
  ["0.0001s", 0],
  [1.1, 1_100],
  [30, 30_000],
  ["20s", 20_000],
  ["1d2h", 93_600_000],
  [undefined, 7 * 86_400_000],
])("a wait of %s lasts %d ms", (timeout, timeoutMs) => {
  const json = { url: "https://a.example", step: { stepId: 1 }, timeout };
  expect(parseWait(json)).toMatchObject({ timeoutMs });
});

it.each([-1, "1.5h", "1.s", ".5s", "1.5.5s", 1e30, "Infinity", "NaN"])(
  "a wait of %s is refused by its name",
  (timeout) => {
    const json = { url: "https://a.example", step: { stepId: 1 }, timeout };
    expect(parseWait(json)).toMatchObject({ text: expect.stringMatching(/^timeout: /) });
  },
);
