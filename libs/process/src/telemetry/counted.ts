/**
 * The numbers of one process: added to by the services, read by the endpoint.
 *
 * (1) a watched gauge is read at most every `keepMs`, and each watched value is waited for at most `readMsMax`; a
 *     read that fails or takes longer leaves out its line and nothing else.
 */
import {
  type Clock,
  endsWithin,
  type HistogramName,
  type Metric,
  metricCatalogue,
  type Metrics,
  type Reading,
  type Reporter,
  type WatchedName,
} from "@posthaste/ports";
import { parseTraceParent } from "./trace-parent.ts";

export type Sample = { readonly name: string; readonly metric: Metric } & (
  | { readonly kind: "value"; readonly value: Reading }
  | { readonly kind: "histogram"; readonly histogram: Readonly<Histogram> }
);

/** `counts`: per bucket, not summed up, the last one above all bounds. `exemplars`: for each bucket the last traced observation. */
export type Histogram = {
  readonly counts: number[];
  readonly exemplars: (Exemplar | undefined)[];
  sum: number;
};
/** One observation, and the trace that it belongs to. `at`: Unix milliseconds. */
export type Exemplar = {
  readonly traceId: string;
  readonly value: number;
  readonly at: number;
};

export type Counted = Metrics & {
  read(): Promise<readonly Sample[]>;
};

type Watched = {
  readonly keptMs: number;
  readonly ask: () => Reading | Promise<Reading>;
  last: Reading;
  askedAt: number;
  asking: Promise<void> | undefined;
};

const keepMs = 5_000;
const readMsMax = 2_000;
const catalogue: ReadonlyMap<string, Metric> = new Map(Object.entries(metricCatalogue));

export function createCounted(service: Reporter, clock: Clock): Counted {
  const reported = [...catalogue].filter(([, { by }]) => by.includes(service));
  const counters = new Map<string, Record<string, number>>();
  const histograms = new Map<string, Histogram>();
  const watched = new Map<string, Watched>();
  for (const [name, metric] of reported) {
    if (metric.kind === "counter")
      counters.set(name, Object.fromEntries(metric.label.values.map((value) => [value, 0])));
    if (metric.kind === "histogram")
      histograms.set(name, {
        counts: metric.buckets.map(() => 0).concat(0),
        exemplars: [],
        sum: 0,
      });
  }

  return {
    count: (name, label, by = 1) => {
      const counter = counters.get(name);
      if (counter) counter[label] = (counter[label] ?? 0) + by;
    },
    observe: (name: HistogramName, value, trace) => {
      const histogram = histograms.get(name);
      if (!histogram) return;
      const above = metricCatalogue[name].buckets.findIndex((bound) => value <= bound);
      const place = above < 0 ? histogram.counts.length - 1 : above;
      histogram.counts[place] = (histogram.counts[place] ?? 0) + 1;
      histogram.sum += value;
      const parsed = trace === undefined ? undefined : parseTraceParent(trace);
      if (parsed?.isSampled)
        histogram.exemplars[place] = { traceId: parsed.traceId, value, at: clock.now() };
    },
    watch: (name: WatchedName, ask) =>
      void watched.set(name, {
        ask,
        // Counters cost nothing to read, and the difference of two old readings would be of another time.
        keptMs: metricCatalogue[name].grows ? 0 : keepMs,
        last: undefined,
        askedAt: Number.NEGATIVE_INFINITY,
        asking: undefined,
      }),
    read: () =>
      Promise.all(
        reported.map(async ([name, metric]): Promise<Sample> => {
          const histogram = histograms.get(name);
          if (histogram) return { name, metric, kind: "histogram", histogram };
          const source = watched.get(name);
          const value = source ? await readingOf(source, clock) : counters.get(name);
          return { name, metric, kind: "value", value };
        }),
      ),
  };
}

async function readingOf(source: Watched, clock: Clock): Promise<Reading> {
  if (clock.passedMs() - source.askedAt >= source.keptMs) source.asking ??= ask(source, clock);
  if (source.asking) await endsWithin(clock, readMsMax, source.asking);
  return source.last;
}

async function ask(source: Watched, clock: Clock): Promise<void> {
  // Unknown until answered: an old number would look like a new one.
  source.last = undefined;
  try {
    source.last = await source.ask();
  } catch {
    // The store's own log lines report that it is away; here the value is missing.
  } finally {
    source.askedAt = clock.passedMs();
    source.asking = undefined;
  }
}
