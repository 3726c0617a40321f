/**
 * Makes spans by OpenTelemetry and sends them, as OTLP over HTTP. Loaded only if traces are sent. Nothing is detected
 * and nothing instrumented.
 */
import { cutOff } from "@posthaste/domain";
import {
  ROOT_CONTEXT,
  type Span as OtelSpan,
  type SpanContext,
  SpanKind as OtelKind,
  SpanStatusCode,
  trace,
  TraceFlags,
} from "@opentelemetry/api";
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  RandomIdGenerator,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { type Span, type SpanKind, type SpanOptions } from "@posthaste/ports";
import { batchMax, type OtlpOptions, queueMax, sendEveryMs, sendMsMax } from "./bounds.ts";
import { resourceOf, loggingOutages } from "./otlp.ts";
import { type SpanPlace, traceParentOf } from "./trace-parent.ts";

export type Otel = {
  start(
    name: string,
    options: SpanOptions,
    place: { readonly own?: SpanPlace; readonly parent?: SpanPlace; readonly link?: SpanPlace },
  ): Span;
  /** Reports whether the collector has refused the last spans sent. */
  isAway(): boolean;
  close(): Promise<void>;
};

const attributeLengthMax = 256;

const kinds: Readonly<Record<SpanKind, OtelKind>> = {
  server: OtelKind.SERVER,
  client: OtelKind.CLIENT,
  producer: OtelKind.PRODUCER,
  consumer: OtelKind.CONSUMER,
  internal: OtelKind.INTERNAL,
};

export async function openOtel({
  url,
  protocol,
  clock,
  log,
  ...named
}: OtlpOptions): Promise<Otel> {
  const { OTLPTraceExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-trace-otlp-http")
      : await import("@opentelemetry/exporter-trace-otlp-proto");
  const exporter = loggingOutages(
    new OTLPTraceExporter({ url, timeoutMillis: sendMsMax }),
    "traces",
    log,
  );
  const drawn = new RandomIdGenerator();
  /** The place of the span that is being started, if it is not random. */
  let given: SpanPlace | undefined;
  const provider = new TracerProvider({
    idGenerator: {
      generateTraceId: () => given?.traceId ?? drawn.generateTraceId(),
      generateSpanId: () => given?.spanId ?? drawn.generateSpanId(),
    },
    sampler: new AlwaysOnSampler(),
    resource: resourceOf(named),
    spanLimits: { attributeValueLengthLimit: attributeLengthMax },
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: queueMax,
        maxExportBatchSize: batchMax,
        scheduledDelayMillis: sendEveryMs,
        exportTimeoutMillis: sendMsMax,
      }),
    ],
  });
  const tracer = provider.getTracer("posthaste");
  return {
    start: (name, { kind, attributes, begunMsAgo }, { own, parent, link }) => {
      const context = parent ? trace.setSpanContext(ROOT_CONTEXT, contextOf(parent)) : ROOT_CONTEXT;
      const options = {
        kind: kinds[kind],
        ...(attributes && { attributes: { ...attributes } }),
        ...(link && { links: [{ context: contextOf(link) }] }),
        ...(begunMsAgo !== undefined && { startTime: cutOff(begunMsAgo, clock.now()) }),
      };
      given = own;
      const span = tracer.startSpan(name, options, context);
      given = undefined;
      return spanOver(span);
    },
    isAway: exporter.isAway,
    close: () => provider.shutdown().catch(() => undefined),
  };
}

function spanOver(span: OtelSpan): Span {
  return {
    traceParent: traceParentOf(span.spanContext()),
    end: ({ attributes, error } = {}) => {
      if (attributes) span.setAttributes({ ...attributes });
      if (error !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: error });
      span.end();
    },
  };
}

const contextOf = ({ traceId, spanId }: SpanPlace): SpanContext => ({
  traceId,
  spanId,
  traceFlags: TraceFlags.SAMPLED,
  isRemote: true,
});
