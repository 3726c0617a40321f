/** Finds the faults that may have caused an event. */
import { type Fault, type Leave } from "./journal.ts";

/** How far a fault and its entry in the journal may be apart. */
const skewMs = 1_000;

/** Returns the faults that allow `leave` and overlap the time from `from` to `to`. */
export const faultsBetween = (
  faults: readonly Fault[],
  leave: Leave,
  from: number,
  to: number,
): readonly Fault[] =>
  faults.filter(
    ({ leaves, at, over }) => leaves.includes(leave) && at - skewMs <= to && over + skewMs >= from,
  );
