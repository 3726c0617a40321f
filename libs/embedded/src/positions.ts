/** Positions: the keys of messages, each given once, growing with time. */
import { type MessageId, randomLength, randomMessageId } from "@posthaste/domain";
import { type Clock, type Ids, type Random } from "@posthaste/ports";

export type Positions = {
  next(): number;
  /** Reserves `count` positions in a row, and returns the first. */
  reserve(count: number): number;
  readonly at: (time: number) => number;
};

/** 2024-01-01T00:00:00Z. Milliseconds since then, times 4096, keep positions in the order of time and far below 2^53 for centuries. */
const epochMs = 1_704_067_200_000;
const positionsPerMs = 4_096;

/** Returns the first position of a millisecond. */
export const positionAt = (time: number): number => Math.max(0, time - epochMs) * positionsPerMs;
/** Returns the millisecond of a position. */
export const timeOfPosition = (position: number): number =>
  epochMs + Math.floor(position / positionsPerMs);

export function openPositions(clock: Clock, lastGiven: number): Positions {
  let last = lastGiven;
  const reserve = (count: number): number => {
    const first = Math.max(last + 1, positionAt(clock.now()));
    last = first + count - 1;
    return first;
  };
  return {
    next: () => reserve(1),
    reserve,
    at: positionAt,
  };
}

export function openIds(positions: Positions, random: Random): Ids {
  return {
    next: (): MessageId => randomMessageId(positions.next(), random.text(randomLength)),
    positionAt: positions.at,
  };
}
