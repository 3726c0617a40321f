/** Trace context of the process' tracer. Costs nothing if the bus is opened without a tracer. */

/** The header that crosses the wire: W3C `traceparent`, and no other. */
export type TraceHeaders = Readonly<Record<string, string>>;

export type Trace = {
  /** Returns the context of the code that runs now; undefined when it is not traced. */
  readonly inject: () => TraceHeaders | undefined;
  readonly run: <R>(headers: TraceHeaders, task: () => R) => R;
};

const header = "traceparent";
const lengthMax = 64;

export function outgoing(trace: Trace | undefined): TraceHeaders | undefined {
  const parent = trace?.inject()?.[header];
  return parent === undefined ? undefined : { [header]: parent };
}

export function parentOf(
  headers: Readonly<Record<string, unknown>> | undefined,
): string | undefined {
  const value = headers?.[header];
  const text = Buffer.isBuffer(value) ? value.toString() : value;
  return typeof text === "string" && text !== "" && text.length <= lengthMax ? text : undefined;
}

export const headersOf = (parent: string): TraceHeaders => ({ [header]: parent });
