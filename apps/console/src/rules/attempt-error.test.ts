import { expect, it } from "@jest/globals";
import { errorWordsOf } from "./attempt-error.ts";

const words = (error: string, body?: string) =>
  errorWordsOf({ error, headers: {}, status: 500, time: 0, ...(body !== undefined && { body }) });

it.each([
  [
    words("500", '{"error":"Error","message":"the card was \\"declined\\""}'),
    'the card was "declined"',
  ],
  [words("500", '{"error":"Error","message":"the card was decl'), "the card was decl"],
  [words("500", "out of order\n"), "out of order"],
  [words("connection refused"), "connection refused"],
  [words("redirects to /x", "moved"), "redirects to /x: moved"],
  [words("500"), "500"],
])("an attempt's error is the message of the answer where there is one: %s", (said, wanted) => {
  expect(said).toBe(wanted);
});
