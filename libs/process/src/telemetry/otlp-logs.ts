/** Sends lines of the log as OTLP. Loaded only if they are sent. */
import { ROOT_CONTEXT, SeverityNumber, trace, TraceFlags } from "@opentelemetry/api";
import { BatchLogRecordProcessor, LoggerProvider } from "@opentelemetry/sdk-logs";
import { type Level } from "../log/human-line.ts";
import { type Line } from "../log/copied-log.ts";
import { batchMax, type OtlpOptions, queueMax, sendEveryMs, sendMsMax } from "./bounds.ts";
import { resourceOf, loggingOutages } from "./otlp.ts";

export type OtlpLogs = {
  send(line: Line): void;
  close(): Promise<void>;
};

const severities: Readonly<Record<Level, SeverityNumber>> = {
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

export async function openOtlpLogs({
  url,
  protocol,
  log,
  ...named
}: OtlpOptions): Promise<OtlpLogs> {
  const { OTLPLogExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-logs-otlp-http")
      : await import("@opentelemetry/exporter-logs-otlp-proto");
  const provider = new LoggerProvider({
    resource: resourceOf(named),
    processors: [
      new BatchLogRecordProcessor({
        exporter: loggingOutages(
          new OTLPLogExporter({ url, timeoutMillis: sendMsMax }),
          "logs",
          log,
        ),
        maxQueueSize: queueMax,
        maxExportBatchSize: batchMax,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendMsMax,
      }),
    ],
  });
  const logger = provider.getLogger("posthaste");
  return {
    send: ({ at, level, event, fields: { traceId, spanId, ...attributes } }) =>
      logger.emit({
        timestamp: new Date(at),
        severityNumber: severities[level],
        severityText: level,
        body: event,
        attributes,
        context: contextOf(traceId, spanId),
      }),
    close: () => provider.shutdown().catch(() => undefined),
  };
}

const contextOf = (traceId: unknown, spanId: unknown) =>
  typeof traceId === "string" && typeof spanId === "string"
    ? trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED })
    : ROOT_CONTEXT;
