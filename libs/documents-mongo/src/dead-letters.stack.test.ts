import { describe } from "@jest/globals";
import { newId } from "@posthaste/testing";
import { describeDeadLetters } from "@posthaste/testing/contract";
import { createDeadLetters, deadLetterIndexes } from "./dead-letters.ts";
import { freshDatabase, servers } from "./opened.fixture.ts";

describe.each(servers)("$name", ({ name, uri }) => {
  const open = freshDatabase(uri, deadLetterIndexes);

  describeDeadLetters(name, async () => {
    const { connection } = await open();
    return {
      deadLetters: createDeadLetters(connection),
      ids: { next: newId },
      close: () => Promise.resolve(),
    };
  });
});
