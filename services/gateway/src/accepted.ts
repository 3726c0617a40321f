import { type Published, type PublishedGroup } from "@posthaste/engine";
import { type Metrics } from "@posthaste/ports";

type Accepted = Pick<Published, "deduplicated">;

export function countAccepted(
  metrics: Metrics,
  published: PublishedGroup | Accepted | readonly Accepted[],
): void {
  if ("group" in published) {
    const { duplicates, group } = published;
    if (duplicates > 0) metrics.count(accepted, "duplicate", duplicates);
    metrics.count(accepted, "new", group.endpointCount - duplicates);
  } else {
    for (const { deduplicated } of "deduplicated" in published ? [published] : published)
      metrics.count(accepted, deduplicated ? "duplicate" : "new");
  }
}

const accepted = "posthaste_messages_accepted_total";
