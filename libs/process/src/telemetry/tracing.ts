/**
 * The Tracer port over OpenTelemetry. Sampling is decided here, once per trace, before anything is made: a trace that
 * began elsewhere follows its own flag, a trace that is kept with a message or linked is sampled, and others are
 * drawn. A failed attempt of a message that was not drawn begins a trace, too (ADR 199).
 *
 * The SDK is loaded when the process starts, and only then: until it is loaded nothing is traced.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { hash } from "node:crypto";
import {
  endsWithin,
  type Random,
  type Service,
  type SpanOptions,
  type TraceParent,
  type Tracer,
} from "@posthaste/ports";
import type { Otel } from "./otel.ts";
import { closeMsMax, type OtlpOptions } from "./bounds.ts";
import { parseTraceParent, type SpanPlace, traceParentOf } from "./trace-parent.ts";

export type TracingOptions = OtlpOptions & {
  /** The share of the traces that begin here and are sampled, 0 to 1. */
  readonly ratio: number;
  readonly random: Random;
};

export type Tracing = { readonly tracer: Tracer; readonly sending: Service };

/** While the collector is away, one trace in this time tests whether it is back. No other is begun. */
const probeEveryMs = 10_000;

export function createTracing(options: TracingOptions): Tracing {
  const { ratio, clock, random } = options;
  const context = new AsyncLocalStorage<TraceParent | undefined>();
  let otel: Otel | undefined;
  let probeAt = 0;

  const draw = (): boolean =>
    otel?.isAway() ? ratio > 0 && mayBegin() : random.fraction() < ratio;

  function mayBegin(): boolean {
    if (!otel?.isAway()) return otel !== undefined;
    if (clock.passedMs() < probeAt) return false;
    probeAt = clock.passedMs() + probeEveryMs;
    return true;
  }

  return {
    tracer: {
      isOn: true,
      start: (name, span) => {
        const place = otel && placeOf(span, draw);
        return place && otel?.start(name, span, place);
      },
      within: (traceParent, task) => context.run(traceParent, task),
      current: () => context.getStore(),
      placeOfFirstAttempt: (id) => (mayBegin() ? placeFrom(id) : undefined),
    },
    sending: {
      name: "traces",
      start: async () => {
        const { openOtel } = await import("./otel.ts");
        otel = await openOtel(options);
      },
      stop: async () => {
        const closing = otel?.close();
        otel = undefined;
        // A collector that does not answer does not delay the end.
        if (closing) await endsWithin(clock, closeMsMax, closing);
      },
    },
  };
}

function placeOf(
  { cause, place }: SpanOptions,
  draw: () => boolean,
):
  | { readonly own?: SpanPlace; readonly parent?: SpanPlace; readonly link?: SpanPlace }
  | undefined {
  const own = place === undefined ? undefined : parseTraceParent(place);
  if (own) return { own };
  const parent = cause && "parent" in cause ? parseTraceParent(cause.parent) : undefined;
  const pointed = cause?.link === undefined ? undefined : parseTraceParent(cause.link);
  const link = pointed?.isSampled ? pointed : undefined;
  if (parent?.isSampled) return { parent, ...(link && { link }) };
  if (link) return { link };
  return !parent && !pointed && draw() ? {} : undefined;
}

const traceIdLength = 32;
const spanIdLength = 16;

/** Every process computes the same place, and none stores it. */
function placeFrom(id: string): TraceParent {
  const digest = hash("sha256", id, "hex");
  const traceId = digest.slice(0, traceIdLength);
  const spanId = digest.slice(traceIdLength, traceIdLength + spanIdLength);
  return traceParentOf({ traceId, spanId });
}
