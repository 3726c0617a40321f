/** Splits long work into short turns of the event loop, so that one request does not hold up the rest. */
import { type InTurns, pause, type Pause } from "@posthaste/contract";
import { type Fault, isFault } from "@posthaste/domain";

/** A few milliseconds of checking URLs. */
const itemsPerTurn = 200;

/**
 * Returns all items in their order, or the first fault; no item after a fault is asked for. `weightOf` gives the work
 * of an item, in small items. A pause ends a turn, too.
 */
export async function inTurns<T>(
  items: Iterable<T | Fault | Pause>,
  weightOf: (item: T) => number = () => 1,
): Promise<readonly T[] | Fault> {
  const all: T[] = [];
  let weight = 0;
  for (const item of items) {
    if (isFault(item)) return item;
    if (item !== pause) {
      all.push(item);
      weight += weightOf(item);
    }
    if (item !== pause && weight < itemsPerTurn) continue;
    weight = 0;
    await yieldToOthers();
  }
  return all;
}

/** Runs `reading` to its end, and lets other requests run in each pause. */
export async function runToEnd<T>(reading: InTurns<T>): Promise<T> {
  for (;;) {
    const { done, value } = reading.next();
    if (done === true) return value;
    await yieldToOthers();
  }
}

export const yieldToOthers = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
