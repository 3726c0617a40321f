import { expect, it } from "@jest/globals";
import { deadLetters } from "./dead-letters.ts";
import { type Endpoint } from "./endpoint.ts";
import { messages } from "./messages.ts";

it("what shows whole bodies is large, so that it is read when there is room for it", () => {
  const rows: Readonly<Record<string, Pick<Endpoint, "answers">>> = { ...messages, ...deadLetters };
  const large = Object.keys(rows).filter((id) => rows[id]?.answers[200]?.isLarge === true);

  expect(large.toSorted()).toEqual(["listDeadLetters", "readDeadLetter", "readMessage"]);
});
