/**
 * Times that are stored, compared with the time of now (docs/adr/0120-two-clocks.md). The clock that wrote one may have been
 * ahead, and have been set back since: then what was to last ten minutes would last as long as the clock was ahead.
 */
import { leaseMs } from "./limits.ts";

/** Clocks of processes that are right disagree by less. */
export const skewMsMax = 60_000;

/** Whether that which ends at `until`, and lasts `lengthMs`, is over: also where it ends later than any that began by now can. */
export const isOver = (until: number, lengthMs: number, now: number): boolean =>
  until <= now || isAhead(until, lengthMs, now);

/** Tells whether a time, which lies no further ahead than `lengthMs` when it is set, was set by a clock that was ahead. */
export const isAhead = (at: number, lengthMs: number, now: number): boolean =>
  at > aheadFrom(lengthMs, now);

/** Returns the time after which a stored time is ahead; for stores, which compare by themselves. */
export const aheadFrom = (lengthMs: number, now: number): number => now + lengthMs + skewMsMax;

/** Returns the time `lengthMs` ago: an earlier stored time is older than that. For stores, which compare by themselves. */
export const cutOff = (lengthMs: number, now: number): number => now - lengthMs;

/**
 * `isOver` of a lease that another process holds and renews: by the time before a clock was set ahead, for as long as its owner
 * may take to renew it. `setAheadMs`: of the clock, by how much that was.
 */
export const isLeaseOver = (until: number, now: number, setAheadMs: number): boolean =>
  until <= leaseNow(now, setAheadMs) || isAhead(until, leaseMs, now);

/** The time by which leases end that stood before the clock was set ahead; for stores. */
export const leaseNow = (now: number, setAheadMs: number): number => now - setAheadMs;

/** How much is left of that which lasts `lengthMs` until `until`: from nothing to all of it. */
export const leftMs = (until: number, lengthMs: number, now: number): number =>
  isOver(until, lengthMs, now) ? 0 : Math.min(until - now, lengthMs);

/** How far ahead `at` lies: from nothing to `msMax`. For timers, and for what is told; of what has a length, see `leftMs`. */
export const untilMs = (at: number, msMax: number, now: number): number =>
  Math.min(Math.max(0, at - now), msMax);

/** How long ago `at` was: no less than nothing, no more than `msMax`. */
export const agoMs = (at: number, msMax: number, now: number): number =>
  Math.min(Math.max(0, now - at), msMax);
