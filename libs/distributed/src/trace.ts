/** The trace context on the bus, and the span of an event's handler. */
import { type Trace } from "@posthaste/bus-kafka";
import { type Tracer } from "@posthaste/ports";

const header = "traceparent";

/**
 * A handler hands over and returns, and the work that it starts also concerns other messages: the work does not run
 * within the trace. The process that continues a message finds the trace in the message.
 */
export const traceOf = (tracer: Tracer): Trace => ({
  inject: () => {
    const current = tracer.current();
    return current === undefined ? undefined : { [header]: current };
  },
  run: (headers, task) => {
    const parent = headers[header];
    if (parent === undefined) return task();
    const span = tracer.start("bus.handle", { kind: "consumer", cause: { parent } });
    const result = task();
    Promise.resolve(result).then(
      () => span?.end(),
      () => span?.end({ error: "failed" }),
    );
    return result;
  },
});
