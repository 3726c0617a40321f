export const recordings: readonly { readonly record: string; readonly expr: string }[] = [
  {
    record: "posthaste:messages_accepted:rate5m",
    expr: "sum by (result) (rate(posthaste_messages_accepted_total[5m]))",
  },
  {
    record: "posthaste:attempts:rate5m",
    expr: "sum by (outcome) (rate(posthaste_attempts_total[5m]))",
  },
  {
    record: "posthaste:delivery_latency_seconds:p99",
    expr: "histogram_quantile(0.99, sum by (le) (rate(posthaste_delivery_latency_seconds_bucket[5m])))",
  },
  {
    record: "posthaste:commit_seconds:p99",
    expr: "histogram_quantile(0.99, sum by (le) (rate(posthaste_commit_seconds_bucket[5m])))",
  },
  {
    record: "posthaste:waiting:max",
    expr: "max(posthaste_lane_depth) + max(posthaste_queue_depth)",
  },
];
