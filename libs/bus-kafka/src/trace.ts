/** Trace context, as the process' tracer has it. Nothing of it costs anything when the bus is opened without one. */

/** What crosses the wire: the W3C header `traceparent`, and no other. */
export type TraceHeaders = Readonly<Record<string, string>>;

export type Trace = {
  /** The context of what runs now; undefined when it is not traced. */
  readonly inject: () => TraceHeaders | undefined;
  /** Runs `task` inside the context that `headers` carry. */
  readonly run: <R>(headers: TraceHeaders, task: () => R) => R;
};

const header = "traceparent";
const lengthMax = 64;

export function outgoing(trace: Trace | undefined): TraceHeaders | undefined {
  const parent = trace?.inject()?.[header];
  return parent === undefined ? undefined : { [header]: parent };
}

/** Of a Kafka message's headers. */
export function parentOf(
  headers: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const value = headers?.[header];
  const text = Buffer.isBuffer(value) ? value.toString() : value;
  return typeof text === "string" && text !== "" && text.length <= lengthMax ? text : undefined;
}

export const headersOf = (parent: string): TraceHeaders => ({ [header]: parent });
