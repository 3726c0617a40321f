import { describe, expect, it } from "@jest/globals";
import * as fc from "fast-check";
import { type Mark, markMax, seenFrom, seenOf, seenText, unseen } from "./seen.ts";

const since = 1_000_000;
const aMark = fc.record({
  at: fc.integer({ min: since, max: since + 10_000 }),
  mark: fc.integer({ min: 1, max: markMax - 1 }),
});
const byTime = (marks: readonly Mark[]): readonly Mark[] => marks.toSorted((a, b) => a.at - b.at);
const someMarks = fc.array(aMark, { maxLength: 300 });

describe("the returned events in a cursor", () => {
  it("finds nothing new where nothing came late", () => {
    fc.assert(
      fc.property(someMarks, (marks) => {
        const seen = byTime(marks);

        expect(unseen(seen, seenOf(seen))).toEqual([]);
      }),
    );
  });

  it("finds every event that came late, wherever its time is", () => {
    fc.assert(
      fc.property(someMarks, fc.array(aMark, { minLength: 1, maxLength: 20 }), (marks, late) => {
        const found = unseen(byTime([...marks, ...late]), seenOf(byTime(marks)));

        expect(found).toEqual(expect.arrayContaining(late));
      }),
    );
  });

  it("finds of few events the late ones alone", () => {
    const seen = Array.from({ length: 24 }, (_, n) => ({ at: since + 10 * n, mark: n + 1 }));
    const late = [4, 44, 230].map((ms) => ({ at: since + ms, mark: 1_000 + ms }));

    const found = unseen(byTime([...seen, ...late]), seenOf(seen));

    // The last one has the time of an event that was seen, and differs from it only by its mark, so the seen one comes again.
    expect(found).toEqual([...late.slice(0, 2), seen[23], late[2]]);
  });

  it("stay short, and are read as they were written", () => {
    fc.assert(
      fc.property(fc.array(aMark, { maxLength: 2_000 }), (marks) => {
        const seen = seenOf(byTime(marks));
        const text = seenText(seen, since);

        expect(text.length).toBeLessThanOrEqual(450);
        expect(seenFrom(text, since)).toEqual(seen);
      }),
    );
  });
});
