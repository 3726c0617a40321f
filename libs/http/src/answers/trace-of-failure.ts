import { type IncomingMessage } from "node:http";
import { type TraceParent } from "@posthaste/ports";

const traces = new WeakMap<IncomingMessage, TraceParent>();

/** Notes the trace in which the work of a request has failed. The failure is answered outside of the trace. */
export const noteTraceOfFailure = (req: IncomingMessage, trace: TraceParent): void =>
  void traces.set(req, trace);

export const traceOfFailure = (req: IncomingMessage): TraceParent | undefined => traces.get(req);
