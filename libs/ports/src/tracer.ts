/**
 * Traces: the path of one message through processes and time. When off, tracing costs one check of `isOn`. A trace
 * context is a W3C `traceparent`. A message keeps one only when its trace is sampled, so a component that finds one
 * continues the trace without asking. A span holds ids, states, sizes and the destination's host; never a path or
 * query of a URL, a header or a body (docs/design/security#what-is-logged).
 */

import { elapsedMs } from "@posthaste/domain";

/** `00-<32 hex>-<16 hex>-01` */
export type TraceParent = string;

type SpanName =
  | "publish"
  | "request"
  | "schedule"
  | "claim"
  | "attempt"
  | "callback"
  | "bus.handle";
export type SpanKind = "server" | "client" | "producer" | "consumer" | "internal";
export type Attributes = Readonly<Record<string, string | number | boolean>>;

/** The trace of a span: the span is part of the trace `parent`, or begins one; `link` points to another. */
export type Cause =
  | { readonly parent: TraceParent; readonly link?: TraceParent }
  | { readonly link: TraceParent };

export type SpanOptions = {
  readonly kind: SpanKind;
  /** Absent if the span begins a trace, if that is sampled. */
  readonly cause?: Cause;
  /** The place of the span itself, if that is derived. The span begins the trace. */
  readonly place?: TraceParent;
  readonly attributes?: Attributes;
  /** Milliseconds since the span began, if it began before it was known to be traced. */
  readonly begunMsAgo?: number;
};

export interface Span {
  readonly traceParent: TraceParent;
  /** `error`: a word for the failure. */
  end(result?: { readonly attributes?: Attributes; readonly error?: string }): void;
}

export interface Tracer {
  /** When false, callers start no span and build no options. */
  readonly isOn: boolean;
  /** Returns undefined when the trace is not sampled. */
  start(name: SpanName, options: SpanOptions): Span | undefined;
  /** Runs `task` with `context` as `current`, also after an await. Events published inside carry it. */
  within<R>(context: TraceParent | undefined, task: () => R): R;
  current(): TraceParent | undefined;
  /**
   * Returns the place of the first attempt of an untraced message, whose trace begins when an attempt fails (ADR
   * 199). The place is derived from the message's id. Undefined while no trace may begin.
   */
  placeOfFirstAttempt(id: string): TraceParent | undefined;
}

export const noTracer: Tracer = {
  isOn: false,
  start: () => undefined,
  within: (_, task) => task(),
  current: () => undefined,
  placeOfFirstAttempt: () => undefined,
};

/** Backends assemble a trace from spans that arrive within minutes. A later span begins a trace of its own, with a link. */
const traceMs = 600_000;

/** Returns the cause of a span at `now` of a message accepted at `since`. */
export const causeOf = (trace: TraceParent, since: number, now: number): Cause =>
  elapsedMs(since, Infinity, now) <= traceMs ? { parent: trace } : { link: trace };

/** Returns the fields by which a line of the log names its trace and span. */
export function traceFields(trace: TraceParent | undefined): {
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
} {
  if (trace === undefined) return {};
  const [, traceId, spanId] = trace.split("-");
  return { traceId, spanId };
}
