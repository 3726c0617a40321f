/** Runs after the gate `end-to-end`: checks that the documented answers of each operation came from a real server. */
import { expect, it } from "@jest/globals";
import { document } from "./documented.ts";
import { objectOf, textOf } from "./json.ts";
import { seenAnswers } from "./seen.ts";

/** Answers that the suites get only through the SDK, or by no plain call that is checked against the document. */
const unseen: ReadonlySet<string> = new Set([
  ...["enqueue 202", "notifyRun 200", "removeFailedRun 200", "tellFailureAgain 200"],
  ...["resumeRunOfLetter 200", "resumeRuns 200"],
]);

it("the end-to-end suites have seen each success of each operation, except the listed ones", () => {
  const seen = seenAnswers();
  const documented = Object.values(objectOf(document["paths"]))
    .flatMap((operations) => Object.values(objectOf(operations)))
    .map(objectOf)
    .flatMap(({ operationId, responses }) =>
      Object.keys(objectOf(responses))
        .filter((status) => status.startsWith("2"))
        .map((status) => `${textOf(operationId)} ${status}`),
    );

  const missing = documented.filter((answer) => !seen.has(answer));
  expect(missing.filter((answer) => !unseen.has(answer))).toEqual([]);
});
