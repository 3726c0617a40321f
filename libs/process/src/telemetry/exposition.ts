/** The text that every Prometheus reads (version 0.0.4). Names and label values are the catalogue's, so nothing is escaped. */
import { type Metric, type Reading } from "@posthaste/ports";
import { type Exemplar, type Sample } from "./counted.ts";

export const expositionType = "text/plain; version=0.0.4; charset=utf-8";

export const exposition = (samples: readonly Sample[]): string =>
  samples.flatMap((sample) => [...headOf(sample), ...linesOf(sample, String)]).join("\n") + "\n";

const headOf = ({ name, metric }: Sample): readonly string[] => [
  `# HELP ${name} ${metric.help}`,
  `# TYPE ${name} ${typeOf(metric)}`,
];

export function typeOf(metric: Metric): "counter" | "gauge" | "histogram" {
  if (metric.kind === "watched") return metric.grows ? "counter" : "gauge";
  return metric.kind;
}

/** `boundOf` writes the bound of a bucket, and `exemplarOf` what follows the count of a bucket. */
export function linesOf(
  { name, metric, ...sample }: Sample,
  boundOf: (bound: number) => string,
  exemplarOf: (exemplar: Exemplar | undefined) => string = () => "",
): readonly string[] {
  if (sample.kind === "value") return linesOfValue(name, labelOf(metric), sample.value);
  if (metric.kind !== "histogram") return [];
  const { counts, exemplars, sum } = sample.histogram;
  let below = 0;
  const lines = counts.map((count, n) => {
    below += count;
    const bound = metric.buckets[n];
    const le = bound === undefined ? "+Inf" : boundOf(bound);
    return `${name}_bucket{le="${le}"} ${below}${exemplarOf(exemplars[n])}`;
  });
  return [...lines, `${name}_sum ${sum}`, `${name}_count ${below}`];
}

export const labelOf = (metric: Metric): string | undefined =>
  "label" in metric ? metric.label?.name : undefined;

function linesOfValue(name: string, label: string | undefined, value: Reading): readonly string[] {
  if (value === undefined) return [];
  if (typeof value === "number") return [`${name} ${value}`];
  return Object.entries(value).map(([key, n]) => `${name}{${label}="${key}"} ${n}`);
}
