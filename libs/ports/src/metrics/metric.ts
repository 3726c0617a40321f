/** Defines a metric: its kind, its label, and the processes that report it. */

/** The processes that may report a metric. `standalone` does the work of all of them in one process. */
export const allProcesses = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
  "management",
  "standalone",
] as const;
export type Reporter = (typeof allProcesses)[number];

type Label = { readonly name: string; readonly values: readonly string[] };
type Common = { readonly help: string; readonly by: readonly Reporter[] };
export type Metric =
  /** Grows only, while the process lives. */
  | (Common & { readonly kind: "counter"; readonly label: Label })
  /** `buckets`: upper bounds, ascending; larger values count as +Inf. */
  | (Common & { readonly kind: "histogram"; readonly buckets: readonly number[] })
  /** Read at each scrape. `grows`: the value is a counter that is kept elsewhere. */
  | (Common & { readonly kind: "watched"; readonly grows: boolean; readonly label?: Label });

export const onTheBus: readonly Reporter[] = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
];
export const writers: readonly Reporter[] = [...onTheBus, "standalone"];
