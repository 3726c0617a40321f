/** What a metric is: its kind, its labels, and the processes that have it. */

/** The processes that may have one; `standalone` does all of their work in one process. */
export const everyone = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
  "management",
  "standalone",
] as const;
export type Reporter = (typeof everyone)[number];

type Label = { readonly name: string; readonly values: readonly string[] };
type Common = { readonly help: string; readonly by: readonly Reporter[] };
export type Metric =
  /** Only grows while the process lives. */
  | (Common & { readonly kind: "counter"; readonly label: Label })
  /** `buckets`: upper bounds, rising; what is above the last one counts as +Inf. */
  | (Common & { readonly kind: "histogram"; readonly buckets: readonly number[] })
  /** Read at each scrape. `grows`: it is a counter that is kept elsewhere. */
  | (Common & { readonly kind: "watched"; readonly grows: boolean; readonly label?: Label });

export const onTheBus: readonly Reporter[] = [
  "gateway",
  "scheduler",
  "deliverer",
  "callback-dispatcher",
  "workflow-log",
];
export const writers: readonly Reporter[] = [...onTheBus, "standalone"];
