/** Counts by minute as bars, one for each minute, also for those without any. */

type Count = "CREATED" | "DELIVERED" | "ERROR" | "FAILED" | "CANCELED";
/** As the API lists them: only minutes that have events. */
export type Minute = {
  readonly time: number;
  readonly counts: Readonly<Partial<Record<Count, number>>>;
};

export type Bar = {
  readonly time: number;
  readonly delivered: number;
  /** Attempts. */
  readonly failed: number;
};

export type Rates = {
  readonly bars: readonly Bar[];
  /** Of a bar. */
  readonly most: number;
  /** Of all minutes. */
  readonly sums: Readonly<Record<Count, number>>;
};

const minuteMs = 60_000;

/** The hour up to `now`. */
export function ratesOf(minutes: readonly Minute[], now: number): Rates {
  const last = now - (now % minuteMs);
  const byTime = new Map(minutes.map(({ time, counts }) => [time, counts]));
  const bars = Array.from({ length: 60 }, (_, nth): Bar => {
    const time = last - (59 - nth) * minuteMs;
    const { DELIVERED = 0, ERROR = 0 } = byTime.get(time) ?? {};
    return { time, delivered: DELIVERED, failed: ERROR };
  });
  const sumOf = (count: Count): number =>
    minutes.reduce((sum, { counts }) => sum + (counts[count] ?? 0), 0);
  return {
    bars,
    most: Math.max(1, ...bars.map(({ delivered, failed }) => delivered + failed)),
    sums: {
      CREATED: sumOf("CREATED"),
      DELIVERED: sumOf("DELIVERED"),
      ERROR: sumOf("ERROR"),
      FAILED: sumOf("FAILED"),
      CANCELED: sumOf("CANCELED"),
    },
  };
}
