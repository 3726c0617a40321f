/**
 * The metrics as OpenMetrics (version 1.0.0), for collectors that ask for it, as Prometheus does. The format differs
 * in how counters are declared, how bounds are written, and in exemplars, which lead from a bucket to the trace of
 * one message in it.
 */
import { type Exemplar, type Sample } from "./counted.ts";
import { linesOf, typeOf } from "./exposition.ts";

export const openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Reports whether to send OpenMetrics. A collector that accepts it at all prefers it. */
export const wantsOpenMetrics = (accept = ""): boolean =>
  accept.includes("application/openmetrics-text");

export const openMetrics = (samples: readonly Sample[]): string =>
  [
    ...samples.flatMap((sample) => [...headOf(sample), ...linesOf(sample, boundOf, exemplarOf)]),
    "# EOF\n",
  ].join("\n");

function headOf({ name, metric }: Sample): readonly string[] {
  const type = typeOf(metric);
  const family = type === "counter" ? name.replace(/_total$/, "") : name;
  return [`# HELP ${family} ${metric.help}`, `# TYPE ${family} ${type}`];
}

/** Writes a bound as a float. */
const boundOf = (bound: number): string =>
  Number.isInteger(bound) ? bound.toFixed(1) : String(bound);

const exemplarOf = (exemplar: Exemplar | undefined): string =>
  exemplar === undefined
    ? ""
    : ` # {trace_id="${exemplar.traceId}"} ${exemplar.value} ${exemplar.at / 1_000}`;
