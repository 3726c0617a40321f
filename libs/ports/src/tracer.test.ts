import { describe, expect, it } from "@jest/globals";
import { causeOf } from "./tracer.ts";

const trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const minute = 60_000;

describe("the spans of a message", () => {
  it("is part of its trace for ten minutes", () => {
    expect(causeOf(trace, 0, 10 * minute)).toEqual({ parent: trace });
  });

  it("begins a trace of its own afterwards, which points to the first", () => {
    expect(causeOf(trace, 0, 10 * minute + 1)).toEqual({ link: trace });
  });
});
