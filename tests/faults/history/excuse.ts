/** Which faults may have caused what happened in a time. */
import { type Fault, type Leave } from "./journal.ts";

/** What a fault does and what is written down of it may be so far apart. */
const skewMs = 1_000;

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
