/** Flow control: at most `parallelism` attempts at once and `rate` dispatches per fixed window of `periodMs` (reliability.md P8). */

/** At least one of parallelism and rate is given; the contract sees to that. */
export type FlowLimits = {
  readonly parallelism?: number;
  readonly rate?: number;
  readonly periodMs: number;
};

export const flowPeriodMsDefault = 1_000;

/** A fixed window that starts with its first dispatch. */
export type RateWindow = { readonly startedAt: number; readonly count: number };

/** How many dispatches the window still allows at `now`, and when the next ones may be. */
export function rateLeft(
  limits: FlowLimits,
  window: RateWindow | undefined,
  now: number,
): { left: number; opensAt?: number } {
  if (limits.rate === undefined) return { left: Number.POSITIVE_INFINITY };
  if (!window || window.startedAt + limits.periodMs <= now) return { left: limits.rate };
  const left = Math.max(0, limits.rate - window.count);
  return left > 0 ? { left } : { left, opensAt: window.startedAt + limits.periodMs };
}

export function countDispatches(
  limits: FlowLimits,
  window: RateWindow | undefined,
  n: number,
  now: number,
): RateWindow {
  if (!window || window.startedAt + limits.periodMs <= now) return { startedAt: now, count: n };
  return { startedAt: window.startedAt, count: window.count + n };
}
