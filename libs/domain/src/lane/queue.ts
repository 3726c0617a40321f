/** How many turns a queue may give (docs/design/queues#turns). */
import { type QueueLane } from "./lane.ts";

/** The parallelism of a queue that a publish made, or whose creator gave none. */
export const queueParallelismDefault = 1;

/** Returns how many turns a queue may give beside the `taken` ones. A paused or deleted queue gives none. */
export const freeTurns = (
  { parallelism, paused, endedAt }: Pick<QueueLane, "parallelism" | "paused" | "endedAt">,
  taken: number,
): number => (paused || endedAt !== undefined ? 0 : Math.max(0, parallelism - taken));
