import { expect, it } from "@jest/globals";
import { Readable } from "node:stream";
import { wordsAfter } from "./completion.ts";
import { programOf } from "./run.ts";

const silent = { write: () => undefined };
const program = programOf(
  {
    ...{ env: {}, out: silent, err: silent },
    ...{ stdin: Readable.from([]), interrupted: new AbortController().signal },
  },
  () => () => Promise.resolve(),
);

it.each([
  [[], ["publish", "dlq", "runs", "--json"]],
  [["dlq"], ["ls", "show", "retry", "rm"]],
  [
    ["dlq", "retry"],
    ["--label", "--yes", "--server"],
  ],
  [["dlq", "retry", "an-id"], ["--label"]],
])("after %j come its commands and options", (words, some) => {
  expect(wordsAfter(program, words)).toEqual(expect.arrayContaining(some));
});
