/** Positions: the keys of messages, each given once, growing with time. */
import { type MessageId, randomLength, randomMessageId } from "@posthaste/domain";
import { type Clock, type Ids, type Random } from "@posthaste/ports";

export type Positions = { next(): number };

/** 2024-01-01T00:00:00Z. Its milliseconds, times 4096, keep positions in the order of time and far below 2^53 for centuries. */
const epochMs = 1_704_067_200_000;
const positionsPerMs = 4_096;

export function openPositions(clock: Clock, lastGiven: number): Positions {
  let last = lastGiven;
  return {
    next: () => {
      last = Math.max(last + 1, (clock.now() - epochMs) * positionsPerMs);
      return last;
    },
  };
}

export function openIds(positions: Positions, random: Random): Ids {
  return { next: (): MessageId => randomMessageId(positions.next(), random.text(randomLength)) };
}
