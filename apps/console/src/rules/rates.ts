/** Turns counts by minute into bars over an hour, a day or a week, empty ones included. */

type Count = "CREATED" | "DELIVERED" | "ERROR" | "FAILED" | "CANCELED";
/** As the API lists them: only minutes with events. */
export type Minute = {
  readonly time: number;
  readonly counts: Readonly<Partial<Record<Count, number>>>;
};

const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;

export type Range = {
  readonly words: string;
  readonly ms: number;
  readonly barMs: number;
};
export const ranges = {
  "1h": { words: "the last hour", ms: 60 * minuteMs, barMs: minuteMs },
  "24h": { words: "the last 24 hours", ms: dayMs, barMs: 15 * minuteMs },
  "7d": { words: "the last 7 days", ms: 7 * dayMs, barMs: 120 * minuteMs },
} as const satisfies Readonly<Record<string, Range>>;
export type RangeName = keyof typeof ranges;
export const rangeNames = ["1h", "24h", "7d"] as const satisfies readonly RangeName[];

export type Bar = {
  readonly time: number;
  readonly delivered: number;
  readonly failed: number;
};

export type Rates = {
  readonly bars: readonly Bar[];
  /** The highest bar. */
  readonly most: number;
  readonly sums: Readonly<Record<Count, number>>;
};

/** Ends with the bar of `now`. */
export function ratesOf(minutes: readonly Minute[], now: number, { ms, barMs }: Range): Rates {
  const last = now - (now % barMs);
  const count = ms / barMs;
  const first = last - (count - 1) * barMs;
  const inside = minutes.filter(({ time }) => time >= first);
  const delivered = new Array<number>(count).fill(0);
  const failed = new Array<number>(count).fill(0);
  for (const { time, counts } of inside) {
    const nth = Math.min(Math.floor((time - first) / barMs), count - 1);
    delivered[nth] = (delivered[nth] ?? 0) + (counts.DELIVERED ?? 0);
    failed[nth] = (failed[nth] ?? 0) + (counts.ERROR ?? 0);
  }
  const bars = delivered.map((each, nth): Bar => ({
    time: first + nth * barMs,
    delivered: each,
    failed: failed[nth] ?? 0,
  }));
  const sumOf = (name: Count): number =>
    inside.reduce((sum, { counts }) => sum + (counts[name] ?? 0), 0);
  return {
    bars,
    most: Math.max(1, ...bars.map((bar) => bar.delivered + bar.failed)),
    sums: {
      CREATED: sumOf("CREATED"),
      DELIVERED: sumOf("DELIVERED"),
      ERROR: sumOf("ERROR"),
      FAILED: sumOf("FAILED"),
      CANCELED: sumOf("CANCELED"),
    },
  };
}

/** Returns the ranges to ask the API for: at most a day each, from whole bars, so that the same question is asked again. */
export function daysOf(now: number, { ms, barMs }: Range): readonly { from: number; to: number }[] {
  const end = now - (now % barMs) + barMs;
  const days = Math.ceil(ms / dayMs);
  return Array.from({ length: days }, (_, nth) => ({
    from: Math.max(end - ms, end - (days - nth) * dayMs),
    to: end - (days - 1 - nth) * dayMs - 1,
  }));
}
