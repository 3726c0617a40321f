/** Which faults may have caused what happened in a time. */
import { type Fault, type Leave } from "./journal.ts";

/**
 * What a fault does and what is written down of it may be so far apart: who was away is taken for away until he has
 * answered the next look, which is taken each second.
 */
const skewMs = 2_000;

/** Those that leave room for `leave` and meet the time from `from` to `to`. */
export const faultsBetween = (
  faults: readonly Fault[],
  leave: Leave,
  from: number,
  to: number,
): readonly Fault[] =>
  faults.filter(
    ({ leaves, at, over }) => leaves.includes(leave) && at - skewMs <= to && over + skewMs >= from,
  );
