/**
 * Compares stored times with now (docs/adr/0120-two-clocks.md). The clock that wrote a time may have been ahead and
 * been set back since. Without a bound, a period of ten minutes would last as long as the clock was ahead.
 */
import { leaseMs } from "./limits.ts";

/** Correct clocks of two processes differ by less than this. */
export const skewMsMax = 60_000;

/**
 * Reports whether a period of `lengthMs` that ends at `until` is over. A period that ends later than any that could
 * have begun by now is over, too.
 */
export const isOver = (until: number, lengthMs: number, now: number): boolean =>
  until <= now || isTooFarAhead(until, lengthMs, now);

/** Reports whether a time, which lies at most `lengthMs` ahead when it is set, was set by a clock that was ahead. */
export const isTooFarAhead = (at: number, lengthMs: number, now: number): boolean =>
  at > tooFarAheadAfter(lengthMs, now);

/** Returns the time after which a stored time is ahead. For stores, which compare by themselves. */
export const tooFarAheadAfter = (lengthMs: number, now: number): number =>
  now + lengthMs + skewMsMax;

/** Returns the time `lengthMs` ago: earlier stored times are older than that. For stores, which compare by themselves. */
export const cutOff = (lengthMs: number, now: number): number => now - lengthMs;

/**
 * Reports whether a lease that another process holds and renews is over. `setAheadMs` is by how much the clock was
 * set ahead; the time before that counts, for as long as the owner may take to renew.
 */
export const isLeaseOver = (until: number, now: number, setAheadMs: number): boolean =>
  until <= leaseNow(now, setAheadMs) || isTooFarAhead(until, leaseMs, now);

/** Returns the time by which leases are compared after the clock was set ahead. For stores. */
export const leaseNow = (now: number, setAheadMs: number): number => now - setAheadMs;

/** Returns how much is left of a period of `lengthMs` that ends at `until`, from 0 to `lengthMs`. */
export const leftMs = (until: number, lengthMs: number, now: number): number =>
  isOver(until, lengthMs, now) ? 0 : Math.min(until - now, lengthMs);

/** Returns how far ahead `at` is, from 0 to `msMax`. For timers and for answers; for a period with a length, see `leftMs`. */
export const untilMs = (at: number, msMax: number, now: number): number =>
  Math.min(Math.max(0, at - now), msMax);

/** Returns how long ago `at` was, from 0 to `msMax`. */
export const elapsedMs = (at: number, msMax: number, now: number): number =>
  Math.min(Math.max(0, now - at), msMax);
