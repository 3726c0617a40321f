/** Flow control: at most `parallelism` attempts at once and `rate` dispatches per fixed window of `periodMs` (docs/design/lanes#slots-and-rates). */
import { isTooFarAhead, isOver } from "../shared/time.ts";

/** At least one of `parallelism` and `rate` is given, as the contract requires. */
export type FlowLimits = {
  readonly parallelism?: number;
  readonly rate?: number;
  readonly periodMs: number;
};

export const flowPeriodMsDefault = 1_000;

export const areSameLimits = (one: FlowLimits, other: FlowLimits): boolean =>
  one.parallelism === other.parallelism &&
  one.rate === other.rate &&
  one.periodMs === other.periodMs;

/** A fixed window that begins with its first dispatch. */
export type RateWindow = { readonly startedAt: number; readonly count: number };

/** Returns how many dispatches the window still allows at `now`, and when the next window opens. */
export function rateLeft(
  limits: FlowLimits,
  window: RateWindow | undefined,
  now: number,
): { left: number; opensAt?: number } {
  if (limits.rate === undefined) return { left: Number.POSITIVE_INFINITY };
  if (!window || isWindowOver(limits, window, now)) return { left: limits.rate };
  const left = Math.max(0, limits.rate - window.count);
  return left > 0 ? { left } : { left, opensAt: window.startedAt + limits.periodMs };
}

export function countDispatches(
  limits: FlowLimits,
  window: RateWindow | undefined,
  n: number,
  now: number,
): RateWindow {
  if (!window || isWindowOver(limits, window, now)) return { startedAt: now, count: n };
  return { startedAt: window.startedAt, count: window.count + n };
}

/**
 * Returns a window that begins now with nothing counted. The start is later than that of the window before, since
 * tokens are told apart by their window's start, unless a clock that was ahead began that one.
 */
export const newWindow = (before: RateWindow | undefined, now: number): RateWindow => ({
  startedAt:
    before === undefined || isTooFarAhead(before.startedAt, 0, now)
      ? now
      : Math.max(now, before.startedAt + 1),
  count: 0,
});

export const isWindowOver = (
  { periodMs }: Pick<FlowLimits, "periodMs">,
  { startedAt }: Pick<RateWindow, "startedAt">,
  now: number,
): boolean => isOver(startedAt + periodMs, periodMs, now);
