/**
 * The counters of a process: plain numbers that cost an addition, and nothing without a reader. The catalogue lists every metric
 * with its name, unit, label and label values. No label holds a value that a caller sent.
 */
import { aftermathMetrics } from "./aftermath.ts";
import { alarmsMetrics } from "./alarms.ts";
import { messagesMetrics } from "./messages.ts";
import { processesMetrics } from "./processes.ts";
import { runsMetrics } from "./runs.ts";
import { storesMetrics } from "./stores.ts";
import { type Metric } from "./metric.ts";
import { type TraceParent } from "../tracer.ts";

export const metricCatalogue = {
  ...messagesMetrics,
  ...alarmsMetrics,
  ...aftermathMetrics,
  ...runsMetrics,
  ...storesMetrics,
  ...processesMetrics,
} as const satisfies Readonly<Record<string, Metric>>;

type Catalogue = typeof metricCatalogue;
export type MetricName = keyof Catalogue;
type NamesOf<Kind extends Metric["kind"]> = {
  [Name in MetricName]: Catalogue[Name] extends { readonly kind: Kind } ? Name : never;
}[MetricName];
type CounterName = NamesOf<"counter">;
export type HistogramName = NamesOf<"histogram">;
export type WatchedName = NamesOf<"watched">;
type LabelOf<Name extends CounterName> = Catalogue[Name]["label"]["values"][number];

/** A number, or numbers by label value where the metric has a label; undefined while unknown. */
export type Reading = number | Readonly<Record<string, number>> | undefined;

export interface Metrics {
  count<Name extends CounterName>(name: Name, label: LabelOf<Name>, by?: number): void;
  /** Records a value in the unit that ends the metric's name. `trace`: the trace of the observed work, if it is traced. */
  observe(name: HistogramName, value: number, trace?: TraceParent): void;
  /** Registers `read`, which is called at a scrape, seldom more than every five seconds. */
  watch(name: WatchedName, read: () => Reading | Promise<Reading>): void;
}

const nothing = (): void => undefined;
export const noMetrics: Metrics = { count: nothing, observe: nothing, watch: nothing };

/** The highest number to which a watched metric counts in a store where counting reads each item. */
export const countedMax = 100_000;
