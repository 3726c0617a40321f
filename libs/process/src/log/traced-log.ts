import { type Log, type LogFields, traceFields, type Tracer } from "@posthaste/ports";

/** Adds trace and span to lines that are written inside one; a line that names a trace itself keeps that. */
export function tracedLog(log: Log, tracer: Tracer): Log {
  if (!tracer.isOn) return log;
  const traced = (fields?: LogFields): LogFields =>
    fields?.["traceId"] === undefined ? { ...traceFields(tracer.current()), ...fields } : fields;
  return {
    debug: (event, fields) => log.debug(event, traced(fields)),
    info: (event, fields) => log.info(event, traced(fields)),
    warn: (event, fields) => log.warn(event, traced(fields)),
    error: (event, fields) => log.error(event, traced(fields)),
    debugs: log.debugs,
  };
}
