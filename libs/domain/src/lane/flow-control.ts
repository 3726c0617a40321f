/** Flow control: at most `parallelism` attempts at once and `rate` dispatches per fixed window of `periodMs` (docs/design/lanes#slots-and-rates). */

/** At least one of parallelism and rate is given; the contract sees to that. */
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

/** A fixed window that starts with its first dispatch. */
export type RateWindow = { readonly startedAt: number; readonly count: number };

/** How many dispatches the window still allows at `now`, and when the next ones may be. */
export function rateLeft(
  limits: FlowLimits,
  window: RateWindow | undefined,
  now: number,
): { left: number; opensAt?: number } {
  if (limits.rate === undefined) return { left: Number.POSITIVE_INFINITY };
  if (!window || isOver(limits, window, now)) return { left: limits.rate };
  const left = Math.max(0, limits.rate - window.count);
  return left > 0 ? { left } : { left, opensAt: window.startedAt + limits.periodMs };
}

export function countDispatches(
  limits: FlowLimits,
  window: RateWindow | undefined,
  n: number,
  now: number,
): RateWindow {
  if (!window || isOver(limits, window, now)) return { startedAt: now, count: n };
  return { startedAt: window.startedAt, count: window.count + n };
}

/** One that begins now, with nothing counted: never at the start of the one before, whose tokens are told by it. */
export const newWindow = (before: RateWindow | undefined, now: number): RateWindow => ({
  startedAt: Math.max(now, (before?.startedAt ?? 0) + 1),
  count: 0,
});

export const isOver = (limits: FlowLimits, window: RateWindow, now: number): boolean =>
  window.startedAt + limits.periodMs <= now;
