/**
 * Traces: what became of one message, over processes and time. Off, it costs the question whether it is on.
 *
 * A trace context is a W3C `traceparent`. It is kept with a message only when its trace is sampled, so a component that finds one
 * goes on with it and asks no further. A span holds ids, states, sizes and the destination's host; never a path or query
 * of a URL, a header or a body (docs/design/security#what-is-logged).
 */

/** `00-<32 hex>-<16 hex>-01` */
import { agoMs } from "@posthaste/domain";
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

/** The trace of a span: a span is part of that trace, or begins one, and points to another. */
export type Cause =
  | { readonly parent: TraceParent; readonly link?: TraceParent }
  | { readonly link: TraceParent };

export type SpanOptions = {
  readonly kind: SpanKind;
  /** Absent: a trace begins here, if it is among those that are sampled. */
  readonly cause?: Cause;
  readonly attributes?: Attributes;
  /** It began before it was known to be traced: so many milliseconds ago. */
  readonly begunMsAgo?: number;
};

export interface Span {
  readonly traceParent: TraceParent;
  /** `error`: a word for what went wrong. */
  end(result?: { readonly attributes?: Attributes; readonly error?: string }): void;
}

export interface Tracer {
  /** False: ask for nothing, and build no options. */
  readonly isOn: boolean;
  /** Undefined: this trace is not sampled. */
  start(name: SpanName, options: SpanOptions): Span | undefined;
  /** Inside it, also after waiting, `current` is `context`: what is said on the bus carries it. */
  within<R>(context: TraceParent | undefined, task: () => R): R;
  current(): TraceParent | undefined;
}

export const noTracer: Tracer = {
  isOn: false,
  start: () => undefined,
  within: (_, task) => task(),
  current: () => undefined,
};

/** Backends put a trace together from what comes within minutes. What comes later begins one of its own, with a link. */
const traceMs = 600_000;

/** What happens at `now` to a message that was accepted at `since`. */
export const causeOf = (trace: TraceParent, since: number, now: number): Cause =>
  agoMs(since, Infinity, now) <= traceMs ? { parent: trace } : { link: trace };

/** By which logs and backends know the trace. */
export const traceIdOf = (trace: TraceParent | undefined): string | undefined =>
  trace?.split("-")[1];
