/** The text that every Prometheus reads (version 0.0.4). Names and label values are the catalogue's, so nothing is escaped. */
import { type Metric, type Reading } from "@posthaste/ports";
import { type Histogram, type Sample } from "./counted.ts";

export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

export const exposition = (samples: readonly Sample[]): string =>
  samples.flatMap((sample) => [...headOf(sample), ...linesOf(sample)]).join("\n") + "\n";

const headOf = ({ name, metric }: Sample): readonly string[] => [
  `# HELP ${name} ${metric.help}`,
  `# TYPE ${name} ${typeOf(metric)}`,
];

export function typeOf(metric: Metric): "counter" | "gauge" | "histogram" {
  if (metric.kind === "watched") return metric.grows ? "counter" : "gauge";
  return metric.kind;
}

function linesOf(sample: Sample): readonly string[] {
  const { name, metric } = sample;
  if (sample.kind === "value") return linesOfValue(name, labelOf(metric), sample.value);
  return metric.kind === "histogram"
    ? linesOfHistogram(name, metric.buckets, sample.histogram)
    : [];
}

export const labelOf = (metric: Metric): string | undefined =>
  "label" in metric ? metric.label?.name : undefined;

export function linesOfValue(
  name: string,
  label: string | undefined,
  value: Reading,
): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === "number") return [`${name} ${value}`];
  return Object.entries(value).map(([key, n]) => `${name}{${label}="${key}"} ${n}`);
}

function linesOfHistogram(
  name: string,
  buckets: readonly number[],
  { counts, sum }: Readonly<Histogram>,
): readonly string[] {
  let below = 0;
  const lines = counts.map((count, n) => {
    below += count;
    return `${name}_bucket{le="${buckets[n] ?? "+Inf"}"} ${below}`;
  });
  return [...lines, `${name}_sum ${sum}`, `${name}_count ${below}`];
}
