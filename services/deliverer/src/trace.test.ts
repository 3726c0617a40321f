import { describe, expect, it } from "@jest/globals";
import { noTracer, type SpanOptions, type Tracer } from "@posthaste/ports";
import { aClaimedRecord } from "@posthaste/testing";
import { startAttemptSpan } from "./trace.ts";

const place = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
const trace = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
const minute = 60_000;

/** Returns the place of an attempt's span in its trace; undefined if no span is begun. */
function placed(
  record: ReturnType<typeof aClaimedRecord>,
  begun: Parameters<typeof startAttemptSpan>[2],
  isOn = true,
): Pick<SpanOptions, "place" | "cause" | "begunMsAgo"> | undefined {
  let started: SpanOptions | undefined;
  const tracer: Tracer = {
    ...noTracer,
    isOn,
    placeOfFirstAttempt: () => place,
    start: (_, options) => {
      started = options;
      return undefined;
    },
  };
  startAttemptSpan(tracer, record, begun);
  if (!started) return undefined;
  const { kind: _, attributes: __, ...where } = started;
  return where;
}

describe("the span of an attempt", () => {
  const record = aClaimedRecord();
  const now = record.message.notBefore;

  it("of an untraced message begins only after a failed attempt, and never where tracing is off", () => {
    expect(placed(record, { now })).toBeUndefined();
    expect(placed(record, { now, tookMs: 5 }, false)).toBeUndefined();
  });

  it("of an untraced message begins a trace when the first attempt has failed, as long ago as the call began", () => {
    expect(placed(record, { now, tookMs: 5 })).toEqual({ place, begunMsAgo: 5 });
  });

  it("of a retry is part of that trace, for ten minutes, and points to it afterwards", () => {
    const retry = { ...record, epoch: 2, retried: 1 };

    expect(placed(retry, { now })).toEqual({ cause: { parent: place } });
    expect(placed(retry, { now: now + 10 * minute + 1 })).toEqual({ cause: { link: place } });
  });

  it("of another claim of the first attempt, which fails, is a child of the first", () => {
    expect(placed({ ...record, epoch: 2 }, { now })).toBeUndefined();
    expect(placed({ ...record, epoch: 2 }, { now, tookMs: 5 })).toEqual({
      cause: { parent: place },
      begunMsAgo: 5,
    });
  });

  it("of a traced message is part of the message's trace, failed or not", () => {
    const traced = { ...record, message: { ...record.message, trace } };

    expect(placed(traced, { now })).toEqual({ cause: { parent: trace } });
    expect(placed(traced, { now, tookMs: 5 })).toEqual({ cause: { parent: trace }, begunMsAgo: 5 });
  });
});
