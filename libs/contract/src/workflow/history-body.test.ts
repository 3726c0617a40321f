import { describe, expect, it } from "@jest/globals";
import { type HistoryEntry, messageId, randomMessageId } from "@posthaste/domain";
import * as fc from "fast-check";
import { fuzzRuns } from "../hostile.fixture.ts";
import { HistoryText } from "./history-body.ts";

const root = randomMessageId(1, "0123456789abcdefg");

const entry = fc.record({
  messageId: fc.constantFrom("", "_rs1", "_rp10000").map((suffix) => messageId(`${root}${suffix}`)),
  body: fc.uint8Array({ maxLength: 64 }),
});
const decode = (bytes: Uint8Array): string =>
  new TextDecoder("utf-8", { fatal: true }).decode(bytes);

function textOf(entries: readonly HistoryEntry[]): string {
  const text = new HistoryText();
  text.add(entries);
  return decode(text.upTo(entries.length));
}

describe("the history as an endpoint gets it", () => {
  it("is the text that JSON.stringify makes, whatever bytes the steps have", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
        const body = textOf(entries);

        expect(body).toBe(JSON.stringify(JSON.parse(body)));
        expect(JSON.parse(body)).toEqual(
          entries.map(({ messageId: id, body: bytes }) => ({
            messageId: id,
            body: Buffer.from(bytes).toString("base64"),
            callType: "step",
          })),
        );
      }),
      { numRuns: fuzzRuns },
    );
  });

  it("is the same when it grows entry by entry, and its earlier part stays", () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 8 }), (entries) => {
        const text = new HistoryText();
        const read = entries.map((each, n) => {
          text.add([each]);
          return text.upTo(n + 1);
        });

        expect(read.map(decode)).toEqual(entries.map((_, n) => textOf(entries.slice(0, n + 1))));
      }),
      { numRuns: fuzzRuns },
    );
  });

  it("of no entry is an empty list", () => {
    expect(textOf([])).toBe("[]");
  });

  it("holds a body that is a part of larger bytes, and no other part of them", () => {
    const all = new TextEncoder().encode("before,the step,after");

    expect(JSON.parse(textOf([{ messageId: root, body: all.subarray(7, 15) }]))).toEqual([
      expect.objectContaining({ body: Buffer.from("the step").toString("base64") }),
    ]);
  });
});
