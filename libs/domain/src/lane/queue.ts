/** A queue's room for turns (docs/design/queues#turns). */
import { type QueueLane } from "./lane.ts";

/** Of a queue that was made by a publish, and of one whose maker has said nothing. */
export const queueParallelismDefault = 1;

/** How many turns it may give beside `taken`. A pause, and the end of the queue, give none. */
export const freeTurns = (
  { parallelism, paused, endedAt }: Pick<QueueLane, "parallelism" | "paused" | "endedAt">,
  taken: number,
): number => (paused || endedAt !== undefined ? 0 : Math.max(0, parallelism - taken));
