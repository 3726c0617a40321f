/** Returns the reasons why a live message waits. */
import { type FlowKey, type Queue } from "@posthaste/client/api";

type Facts = {
  readonly queue: Queue | undefined;
  readonly key: FlowKey | undefined;
  readonly notBefore: number | undefined;
  readonly now: number;
};

export type HeldUp = {
  readonly words: string;
  /** The page that changes it. */
  readonly to: string | undefined;
  /** The message does not continue by itself. */
  readonly isStopped: boolean;
};

export function heldUp({ queue, key, notBefore, now }: Facts): readonly HeldUp[] {
  const by: HeldUp[] = [];
  if (queue !== undefined)
    by.push(
      queue.paused
        ? { words: `The queue ${queue.name} is paused`, to: queuePage(queue), isStopped: true }
        : {
            words: `The message waits in the queue ${queue.name}: ${queue.lag} messages, ${queue.parallelism} at once`,
            to: queuePage(queue),
            isStopped: false,
          },
    );
  if (key !== undefined) {
    const to = `/flow-keys?${new URLSearchParams({ search: key.flowControlKey }).toString()}`;
    const name = `The flow key ${key.flowControlKey}`;
    const isFull = key.parallelismMax > 0 && key.parallelismCount >= key.parallelismMax;
    const isSpent = key.rateMax > 0 && key.rateCount >= key.rateMax;
    if (key.isPaused) by.push({ words: `${name} is paused`, to, isStopped: true });
    else if (isFull)
      by.push({ words: `${name} has all ${key.parallelismMax} slots taken`, to, isStopped: false });
    else if (isSpent)
      by.push({ words: `${name} has used its rate of ${key.rateMax}`, to, isStopped: false });
  }
  if (notBefore !== undefined && notBefore > now)
    by.push({ words: "The message is not due yet", to: undefined, isStopped: false });
  return by.toSorted((a, b) => Number(b.isStopped) - Number(a.isStopped));
}

const queuePage = ({ name }: Queue): string => `/queues/${encodeURIComponent(name)}`;
