import { describe, expect, it } from "@jest/globals";
import { check } from "./checker.ts";
import { type Ack, type Arrival } from "./journal.ts";

const ack: Ack = { at: 1_000, n: 1, kind: "plain", id: "msg_1", notBefore: 1_000 };
const arrival: Arrival = { at: 1_010, n: 1, id: "msg_1", status: 200, intact: true };
const kinds = (...runs: Parameters<typeof check>): string[] =>
  check(...runs).violations.map((violation) => violation.slice(0, violation.indexOf(":")));

describe("the checker", () => {
  it("is content with one arrival for one acknowledgement", () => {
    expect(kinds([ack], [arrival], [])).toEqual([]);
  });

  it("sees that an acknowledged message never arrived with success", () => {
    expect(kinds([ack], [{ ...arrival, status: 503 }], [])).toEqual(["lost"]);
  });

  it("sees a repeat that no kill explains, and accepts one that a kill does", () => {
    const repeat = { ...arrival, at: 3_000 };
    expect(kinds([ack], [arrival, repeat], [])).toEqual(["repeated without a kill"]);
    expect(kinds([ack], [arrival, repeat], [{ at: 1_500, readyAt: 2_000 }])).toEqual([]);
  });

  it("sees an early arrival, an altered body, a lost callback and a second message under one deduplication id", () => {
    expect(kinds([{ ...ack, notBefore: 2_000 }], [arrival], [])).toEqual(["early"]);
    expect(kinds([ack], [{ ...arrival, intact: false }], [])).toEqual(["altered"]);
    expect(kinds([{ ...ack, kind: "callback" }], [arrival], [])).toEqual(["callback lost"]);
    expect(
      kinds([{ ...ack, kind: "deduplicated" }], [arrival, { ...arrival, id: "msg_2" }], []),
    ).toEqual(["two messages under one deduplication id"]);
  });
});
