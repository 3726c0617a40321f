/** Queues and flow keys that hold messages up, being paused or full; the most messages first. */
import { type FlowKey, type Queue } from "@posthaste/client/api";

export type Stop = {
  readonly what: "queue" | "flow key";
  readonly name: string;
  readonly why: string;
  readonly isPaused: boolean;
  readonly waiting: number;
};

export function stopsOf(queues: readonly Queue[], keys: readonly FlowKey[]): readonly Stop[] {
  const ofQueues = queues
    .filter(({ paused, lag, parallelism }) => paused || lag > parallelism)
    .map(({ name, paused, lag, parallelism }): Stop => ({
      what: "queue",
      name,
      why: paused ? "paused" : `${parallelism} at once`,
      isPaused: paused,
      waiting: lag,
    }));
  const ofKeys = keys
    .filter(({ isPaused, waitListSize }) => isPaused || waitListSize > 0)
    .map((key): Stop => ({
      what: "flow key",
      name: key.flowControlKey,
      why: key.isPaused ? "paused" : limitsOf(key),
      isPaused: key.isPaused,
      waiting: key.waitListSize,
    }));
  return [...ofQueues, ...ofKeys].toSorted(
    (a, b) => Number(b.isPaused) - Number(a.isPaused) || b.waiting - a.waiting,
  );
}

const limitsOf = ({ parallelismMax, rateMax, ratePeriod }: FlowKey): string =>
  [
    parallelismMax > 0 && `${parallelismMax} at once`,
    rateMax > 0 && `${rateMax} in ${ratePeriod} s`,
  ]
    .filter((each) => each !== false)
    .join(", ");
