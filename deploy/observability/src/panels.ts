/**
 * The panels of each dashboard: one for each metric of the catalogue, and for a histogram a second one, of all its
 * buckets; on the overview the numbers that an operator looks at first.
 */
import { type Metric, metricCatalogue, type MetricName } from "@posthaste/ports";
import { type BoardName, type Place, places } from "./places.ts";

export type Query = {
  readonly expr: string;
  readonly legend: string;
  /** Links the points to traces. */
  readonly exemplar?: boolean;
};
export type Panel = {
  readonly title: string;
  readonly description: string;
  readonly unit: Place["unit"];
  readonly queries: readonly Query[];
  readonly console?: Place["console"];
} & (
  | { readonly kind: "lines" | "heatmap" }
  /** `steps`: the values from which the number is shown as a warning, and as an error. */
  | { readonly kind: "number"; readonly steps?: readonly [warning: number, trouble: number] }
);
/** A mark on all panels of a dashboard. `isTime`: the value is the time of the mark, in milliseconds. */
export type Mark = {
  readonly name: string;
  readonly expr: string;
  readonly title: string;
  readonly text: string;
  readonly isTime: boolean;
};
export type Board = {
  readonly name: BoardName;
  readonly title: string;
  readonly description: string;
  readonly panels: readonly Panel[];
};

/** The selection by a dashboard's variables. */
const selected = 'job=~"$job",instance=~"$instance"';
const window = "[$__rate_interval]";

const boardNames: readonly BoardName[] = [
  "overview",
  "deliveries",
  "lanes-and-queues",
  "runs",
  "stores-and-bus",
];
const titles: Readonly<Record<BoardName, readonly [title: string, description: string]>> = {
  overview: ["Posthaste: overview", "Whether messages are taken, delivered and on time."],
  deliveries: ["Posthaste: deliveries", "Publishes, attempts, their outcomes and dead letters."],
  "lanes-and-queues": [
    "Posthaste: lanes and queues",
    "Messages that wait for their time or their turn.",
  ],
  runs: ["Posthaste: runs", "Workflow runs, and whether they go on."],
  "stores-and-bus": ["Posthaste: stores and bus", "Stores and bus, as their clients see them."],
};

const first: readonly MetricName[] = [
  "posthaste_messages_accepted_total",
  "posthaste_attempts_total",
  "posthaste_delivery_latency_seconds",
  "posthaste_oldest_past_due_seconds",
  "posthaste_lane_depth",
  "posthaste_queue_depth",
  "posthaste_dead_letters",
  "posthaste_runs_active",
];

const names = Object.keys(metricCatalogue).filter((name): name is MetricName => name in places);

const numbers: readonly Panel[] = [
  {
    kind: "number",
    title: "Processes by version",
    description: "How many processes of each version Prometheus reads.",
    unit: "short",
    queries: [
      { expr: `count by (version) (posthaste_build_info{${selected}})`, legend: "{{version}}" },
    ],
  },
  {
    kind: "number",
    title: "Since the last start",
    description:
      "Time since the last start of a process. Short without a deploy: a process has crashed, or was added.",
    unit: "s",
    queries: [
      { expr: `time() - max(process_start_time_seconds{${selected}})`, legend: "last start" },
    ],
  },
  {
    kind: "number",
    title: "Delivered",
    description: "Deliveries in a second.",
    unit: "ops",
    queries: [
      {
        expr: `sum(rate(posthaste_attempts_total{outcome="delivered",${selected}}${window}))`,
        legend: "delivered",
      },
    ],
  },
  {
    kind: "number",
    title: "Attempts that fail",
    description: "The fraction of all attempts that did not deliver.",
    unit: "percentunit",
    steps: [0.1, 0.5],
    queries: [
      {
        expr: `sum(rate(posthaste_attempts_total{outcome!="delivered",${selected}}${window})) / (sum(rate(posthaste_attempts_total{${selected}}${window})) > 0)`,
        legend: "failed",
      },
    ],
  },
  {
    kind: "number",
    title: "Oldest alarm past due",
    description: metricCatalogue.posthaste_oldest_past_due_seconds.help,
    unit: "s",
    steps: [10, 60],
    queries: [{ expr: `max(posthaste_oldest_past_due_seconds{${selected}})`, legend: "past due" }],
  },
  {
    kind: "number",
    title: "Dead letters kept",
    description: metricCatalogue.posthaste_dead_letters.help,
    unit: "short",
    steps: [1, 1_000],
    console: places.posthaste_dead_letters.console,
    queries: [{ expr: `max(posthaste_dead_letters{${selected}})`, legend: "dead letters" }],
  },
];

const alive: Panel = {
  kind: "lines",
  title: "Processes that answer",
  description: "How many processes of each service Prometheus reads.",
  unit: "short",
  queries: [
    { expr: `count by (job) (process_resident_memory_bytes{${selected}})`, legend: "{{job}}" },
  ],
};

const versions = `count by (version) (posthaste_build_info{${selected}}`;

export const marks: readonly Mark[] = [
  {
    name: "Deploys",
    expr: `${versions}) unless ${versions} offset 5m)`,
    title: "Version {{version}}",
    text: "A version that no process had five minutes before.",
    isTime: false,
  },
  {
    name: "Starts",
    expr: `process_start_time_seconds{${selected}} * 1000`,
    title: "{{job}} started",
    text: "{{instance}}",
    isTime: true,
  },
];

export const boards: readonly Board[] = boardNames.map((name) => {
  const [title, description] = titles[name];
  const own = names.filter((metric) => places[metric].board === name).flatMap(panelsOf);
  const panels = name === "overview" ? [...numbers, alive, ...first.map(panelOf), ...own] : own;
  return { name, title, description, panels };
});

function panelsOf(name: MetricName): readonly Panel[] {
  const isHistogram = metricCatalogue[name].kind === "histogram";
  return isHistogram ? [panelOf(name), heatmapOf(name)] : [panelOf(name)];
}

function panelOf(name: MetricName): Panel {
  const metric: Metric = metricCatalogue[name];
  const { console, title, unit } = places[name];
  return {
    ...{ kind: "lines", title, description: metric.help, unit },
    queries: queriesOf(name, metric),
    console,
  };
}

function heatmapOf(name: MetricName): Panel {
  const { title, unit } = places[name];
  return {
    kind: "heatmap",
    title: `${title}, each`,
    description: `${metricCatalogue[name].help} How many fell into each bucket.`,
    unit,
    queries: [
      { expr: `sum by (le) (increase(${name}_bucket{${selected}}${window}))`, legend: "{{le}}" },
    ],
  };
}

function queriesOf(name: MetricName, metric: Metric): readonly Query[] {
  if (metric.kind === "histogram")
    return [0.5, 0.95, 0.99].map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(${name}_bucket{${selected}}${window})))`,
      legend: `p${quantile * 100}`,
      exemplar: name === "posthaste_delivery_latency_seconds" && quantile === 0.99,
    }));
  const label = metric.label?.name;
  const legend = label === undefined ? places[name].title : `{{${label}}}`;
  const grows = metric.kind === "counter" || metric.grows;
  const series = grows ? `rate(${name}{${selected}}${window})` : `${name}{${selected}}`;
  if (places[name].over === "each")
    return [{ expr: `sum by (job, instance) (${series})`, legend: "{{job}} {{instance}}" }];
  if (places[name].over === "age")
    return [
      { expr: `time() - max by (job, instance) (${series})`, legend: "{{job}} {{instance}}" },
    ];
  const over = grows ? "sum" : (places[name].over ?? "max");
  const by = label === undefined ? "" : ` by (${label}) `;
  return [{ expr: `${over}${by}(${series})`, legend }];
}
