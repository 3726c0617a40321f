import { describe, expect, it } from "@jest/globals";
import * as z from "zod";
import { managementEndpoints } from "../management/index.ts";
import { type AnswerRow, type Endpoint } from "./endpoint.ts";
import { gatewayEndpoints } from "./index.ts";

/** Answers that contain an array or a body and are made whole, with the bound of each. */
const boundedOtherwise: Readonly<Record<string, string>> = {
  readBulkAction: "one, of a few filters",
  retryDeadLetters: "100 ids",
  restartRuns: "50 ids",
  resumeRuns: "50 ids",
  triggerBatch: "10,000 items of an id and a time",
  notifyEvent: "no more is told than a mebibyte",
  notifyRun: "no more is told than a mebibyte",
  enterSearchIndex: "one index",
  readSearchIndex: "one index",
  rotateSearchIndexTokens: "one index",
  reportThroughput: "one index",
};

type Row = Pick<Endpoint, "answers" | "kind">;
const rows: Readonly<Record<string, Row>> = { ...gatewayEndpoints, ...managementEndpoints };

const holdsMany = ({ schema }: AnswerRow): boolean =>
  schema !== undefined && /"type":"array"|"body"/.test(textOf(schema));
const textOf = (schema: z.ZodType): string =>
  JSON.stringify(z.toJSONSchema(schema, { unrepresentable: "any" }));

describe("an answer that may be long", () => {
  it("is made in pieces, or read with a permit, or has a bound that is listed here", () => {
    const unbounded = Object.entries(rows).filter(([, { answers }]) =>
      Object.values(answers).some(
        (answer) => holdsMany(answer) && !answer.inPieces && !answer.isLarge,
      ),
    );

    expect(unbounded.map(([id]) => id).toSorted()).toEqual(
      Object.keys(boundedOtherwise).toSorted(),
    );
  });

  it("is read with a permit wherever it is a list", () => {
    const lists = Object.values(rows).filter(({ kind }) => kind === "list");

    expect(lists.length).toBeGreaterThan(15);
    for (const { answers } of lists)
      expect(answers[200]?.inPieces ?? answers[200]?.isLarge).toBe(true);
  });

  it("is known by its schema", () => {
    const large = Object.entries(rows).filter(([, { answers }]) =>
      Object.values(answers).some(({ inPieces, isLarge }) => inPieces ?? isLarge),
    );

    expect(large.length).toBeGreaterThan(15);
    for (const [id, { answers, kind }] of large)
      expect([id, kind === "list" || Object.values(answers).some(holdsMany)]).toEqual([id, true]);
  });
});
