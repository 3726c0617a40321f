/** Watches lines: how many messages are in lanes and queues, and for how long the oldest turn has lasted. */
import { elapsedMs } from "@posthaste/domain";
import { type Clock, countedMax, type Metrics, type Queues, type Sizes } from "@posthaste/ports";

type Lines = { readonly sizes: Sizes; readonly queues: Pick<Queues, "oldestTurn"> };

export function watchLines(
  metrics: Metrics,
  { sizes, queues }: Lines,
  clock: Pick<Clock, "now">,
): void {
  metrics.watch("posthaste_queue_depth", () => sizes.queued(countedMax));
  metrics.watch("posthaste_lane_depth", () => sizes.waiting(countedMax));
  metrics.watch("posthaste_queue_oldest_turn_seconds", async () => {
    const given = await queues.oldestTurn();
    return elapsedMs(given ?? Infinity, Infinity, clock.now()) / 1_000;
  });
}
