import { expect, it } from "@jest/globals";
import { shown } from "./progress.ts";

const scanning =
  "Index Build: scanning collection Index Build: scanning collection: 91260/200000 45%";

it.each([
  [scanning, { done: 91_260, total: 200_000 }, "45 % (scanning collection)"],
  [
    "Index Build: draining writes received during build",
    undefined,
    "draining writes received during build",
  ],
  [scanning, { done: 0, total: 0 }, "scanning collection"],
  ["something else", { done: 1, total: 2 }, undefined],
])("the server's report about an index is shown with its part: %s", (msg, progress, text) => {
  expect(shown(msg, progress)).toBe(text);
});
