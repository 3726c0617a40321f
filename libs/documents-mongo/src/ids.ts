/** Makes ids in the order of the store's time: the ids of all processes grow together, and random characters tell them apart. */
import { randomLength, randomMessageId } from "@posthaste/domain";
import { type Ids } from "@posthaste/ports";
import { type Connection } from "./connection.ts";

/** A process makes at most this many ids in a millisecond before its positions run ahead of time. */
const positionsPerMs = 1_000;

export function createIds({ clock, random }: Pick<Connection, "clock" | "random">): Ids {
  const positionAt = (time: number): number => time * positionsPerMs;
  let last = 0;
  return {
    next: () => {
      last = Math.max(last + 1, positionAt(clock.now()));
      return randomMessageId(last, random.text(randomLength));
    },
    positionAt,
  };
}
