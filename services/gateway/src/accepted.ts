import { type Published } from "@posthaste/engine";
import { type Metrics } from "@posthaste/ports";

export function countAccepted(metrics: Metrics, published: Published | readonly Published[]): void {
  for (const { deduplicated } of "messageId" in published ? [published] : published)
    metrics.count("posthaste_messages_accepted_total", deduplicated ? "duplicate" : "new");
}
