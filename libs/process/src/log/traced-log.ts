import { type Log, type LogFields, traceIdOf, type Tracer } from "@posthaste/ports";

/** Adds `traceId` to lines that are written inside a trace; a line that names one itself keeps that. */
export function tracedLog(log: Log, tracer: Tracer): Log {
  if (!tracer.isOn) return log;
  const traced = (fields?: LogFields): LogFields => ({
    traceId: traceIdOf(tracer.current()),
    ...fields,
  });
  return {
    debug: (event, fields) => log.debug(event, traced(fields)),
    info: (event, fields) => log.info(event, traced(fields)),
    warn: (event, fields) => log.warn(event, traced(fields)),
    error: (event, fields) => log.error(event, traced(fields)),
    debugs: log.debugs,
  };
}
