/** Sends the numbers of a process as OTLP, under the names that Prometheus reads. Loaded only if they are sent. */
import { type HrTime, ValueType } from "@opentelemetry/api";
import {
  AggregationTemporality,
  DataPointType,
  type MetricData,
  type ResourceMetrics,
} from "@opentelemetry/sdk-metrics";
import { type Reading } from "@posthaste/ports";
import { type Counted, type Histogram, type Sample } from "./counted.ts";
import { labelOf, typeOf } from "./exposition.ts";
import { type OtlpOptions, sendMsMax } from "./bounds.ts";
import { resourceOf, loggingOutages } from "./otlp.ts";

export type OtlpMetrics = {
  send(): Promise<void>;
  close(): Promise<void>;
};

export async function openOtlpMetrics(
  counted: Pick<Counted, "read">,
  { url, protocol, clock, log, ...named }: OtlpOptions,
): Promise<OtlpMetrics> {
  const { OTLPMetricExporter } =
    protocol === "http/json"
      ? await import("@opentelemetry/exporter-metrics-otlp-http")
      : await import("@opentelemetry/exporter-metrics-otlp-proto");
  const exporter = loggingOutages<ResourceMetrics>(
    new OTLPMetricExporter({ url, timeoutMillis: sendMsMax }),
    "metrics",
    log,
  );
  const resource = resourceOf(named);
  const startTime = timeOf(clock.now());
  return {
    send: async () => {
      const samples = await counted.read();
      const times = { startTime, endTime: timeOf(clock.now()) };
      const metrics = samples.flatMap((sample) => metricOf(sample, times));
      await new Promise((done) => {
        exporter.export(
          { resource, scopeMetrics: [{ scope: { name: "posthaste" }, metrics }] },
          done,
        );
      });
    },
    close: () => exporter.shutdown(),
  };
}

type Times = { readonly startTime: HrTime; readonly endTime: HrTime };

const timeOf = (ms: number): HrTime => [Math.floor(ms / 1_000), (ms % 1_000) * 1_000_000];

/** Returns nothing for a value that is not known. */
function metricOf(sample: Sample, times: Times): readonly MetricData[] {
  const { name, metric } = sample;
  const common = {
    descriptor: { name, description: metric.help, unit: "", valueType: ValueType.DOUBLE },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  };
  if (sample.kind === "histogram") {
    const buckets = metric.kind === "histogram" ? metric.buckets : [];
    const point = { ...times, attributes: {}, value: histogramOf(buckets, sample.histogram) };
    return [{ ...common, dataPointType: DataPointType.HISTOGRAM, dataPoints: [point] }];
  }
  const dataPoints = valuesOf(labelOf(metric), sample.value).map((value) => ({
    ...times,
    ...value,
  }));
  if (dataPoints.length === 0) return [];
  return typeOf(metric) === "counter"
    ? [{ ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }]
    : [{ ...common, dataPointType: DataPointType.GAUGE, dataPoints }];
}

function valuesOf(label: string | undefined, reading: Reading) {
  if (reading === undefined) return [];
  if (typeof reading === "number") return [{ attributes: {}, value: reading }];
  return Object.entries(reading).map(([key, value]) => ({
    attributes: label === undefined ? {} : { [label]: key },
    value,
  }));
}

const histogramOf = (boundaries: readonly number[], { counts, sum }: Readonly<Histogram>) => ({
  buckets: { boundaries: [...boundaries], counts: [...counts] },
  sum,
  count: counts.reduce((all, count) => all + count, 0),
});
