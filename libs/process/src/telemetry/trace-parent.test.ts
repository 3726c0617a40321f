import { describe, expect, it } from "@jest/globals";
import { parseTraceParent, traceParentOf } from "./trace-parent.ts";

const traceId = "0af7651916cd43dd8448eb211c80319c";
const spanId = "b7ad6b7169203331";

describe("a traceparent", () => {
  it("gives trace, span and whether it is sampled", () => {
    expect(parseTraceParent(`00-${traceId}-${spanId}-01`)).toEqual({
      traceId,
      spanId,
      isSampled: true,
    });
    expect(parseTraceParent(`00-${traceId}-${spanId}-00`)?.isSampled).toBe(false);
    expect(parseTraceParent(`00-${traceId}-${spanId}-03`)?.isSampled).toBe(true);
  });

  it("of a later version may say more", () => {
    expect(parseTraceParent(`01-${traceId}-${spanId}-01-more`)?.traceId).toBe(traceId);
  });

  it("is read as it was written", () => {
    const text = traceParentOf({ traceId, spanId });

    expect(parseTraceParent(text)).toEqual({ traceId, spanId, isSampled: true });
  });

  it.each([
    ["nothing", ""],
    ["no version", `${traceId}-${spanId}-01`],
    ["the version that is none", `ff-${traceId}-${spanId}-01`],
    ["no trace", `00-${"0".repeat(32)}-${spanId}-01`],
    ["no span", `00-${traceId}-${"0".repeat(16)}-01`],
    ["capitals", `00-${traceId.toUpperCase()}-${spanId}-01`],
    ["two of them", `00-${traceId}-${spanId}-01, 00-${traceId}-${spanId}-01`],
    ["too much", `01-${traceId}-${spanId}-01-${"x".repeat(200)}`],
  ])("is refused with %s", (_, text) => {
    expect(parseTraceParent(text)).toBeUndefined();
  });
});
