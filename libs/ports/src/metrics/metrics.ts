/**
 * What a process counts about itself: plain numbers that cost an addition, and nothing without a reader. The
 * catalogue is all there is: names, units, labels and their values. No label ever holds what a caller has sent.
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

/** A number; by label value where the metric has one; undefined while it is not known. */
export type Reading = number | Readonly<Record<string, number>> | undefined;

export interface Metrics {
  count<Name extends CounterName>(name: Name, label: LabelOf<Name>, by?: number): void;
  /** In the unit that ends the metric's name. `trace`: what it was observed of, where that is traced. */
  observe(name: HistogramName, value: number, trace?: TraceParent): void;
  /** `read` is called at a scrape, seldom more than every five seconds. */
  watch(name: WatchedName, read: () => Reading | Promise<Reading>): void;
}

const nothing = (): void => undefined;
export const noMetrics: Metrics = { count: nothing, observe: nothing, watch: nothing };

/** How far what is watched is counted in a store, where counting is looking at each. */
export const countedMax = 100_000;
