/** The panels of each dashboard: one for each metric of the catalogue, and a summary on the overview. */
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
  deliveries: ["Posthaste: deliveries", "Publishes, attempts, their outcomes and what they leave."],
  "lanes-and-queues": ["Posthaste: lanes and queues", "What waits for its time or its turn."],
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

const alive: Panel = {
  title: "Processes that answer",
  description: "Of each service, how many processes Prometheus reads.",
  unit: "short",
  queries: [
    { expr: `count by (job) (process_resident_memory_bytes{${selected}})`, legend: "{{job}}" },
  ],
};

export const boards: readonly Board[] = boardNames.map((name) => {
  const [title, description] = titles[name];
  const own = names.filter((metric) => places[metric].board === name).map(panelOf);
  const panels = name === "overview" ? [alive, ...first.map(panelOf), ...own] : own;
  return { name, title, description, panels };
});

function panelOf(name: MetricName): Panel {
  const metric: Metric = metricCatalogue[name];
  const { title, unit } = places[name];
  return { title, description: metric.help, unit, queries: queriesOf(name, metric) };
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
  const over = grows ? "sum" : (places[name].over ?? "max");
  const by = label === undefined ? "" : ` by (${label}) `;
  return [{ expr: `${over}${by}(${series})`, legend }];
}
