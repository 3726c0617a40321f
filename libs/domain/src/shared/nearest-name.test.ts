import { expect, it } from "@jest/globals";
import { nearestName } from "./nearest-name.ts";

const names = ["retries", "retry-delay", "delay", "label"];

it.each([
  ["retires", 3, "retries"],
  ["retries", 3, "retries"],
  ["dely", 3, "delay"],
  ["", 3, undefined],
  ["colour", 3, undefined],
  ["retires", 1, "retries"],
  ["rtires", 1, undefined],
  ["labels", 1, "label"],
  ["x".repeat(1_000_000), 3, undefined],
])("the nearest name to %.20p within %i edits is %p", (name, distance, nearest) => {
  expect(nearestName(name, names, distance)).toBe(nearest);
});
