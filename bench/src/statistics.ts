/** The statistics of the report. Percentiles are nearest-rank, so every figure shown was really measured. */

export type Spread = { readonly median: number; readonly min: number; readonly max: number };

export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = Float64Array.from(values).sort();
  const min = sorted[0];
  const max = sorted[sorted.length - 1];
  if (min === undefined || max === undefined) return undefined;
  return { median: medianOf(sorted), min, max };
}

/** `sorted` is ascending; `fraction` is in (0, 1], such as 0.99. Returns NaN for no samples. */
export function percentile(sorted: Float64Array, fraction: number): number {
  const rank = Math.ceil(fraction * sorted.length);
  return sorted[Math.max(rank, 1) - 1] ?? Number.NaN;
}

/** Returns the samples of all rounds together, ascending. */
export function pooled(samples: readonly Float64Array[]): Float64Array {
  const all = new Float64Array(samples.reduce((length, one) => length + one.length, 0));
  let offset = 0;
  for (const one of samples) {
    all.set(one, offset);
    offset += one.length;
  }
  return all.sort();
}

/**
 * Returns the ratio of two variants that alternated: each round against the same round, then the spread of the
 * ratios. Noise that lasts longer than a round cancels out.
 */
export function ratioSpread(
  ours: readonly number[],
  theirs: readonly number[],
): Spread | undefined {
  const rounds = Math.min(ours.length, theirs.length);
  const ratios = Array.from({ length: rounds }, (_, round) => {
    const [above, below] = [ours[round], theirs[round]];
    return above === undefined || below === undefined ? Number.NaN : above / below;
  });
  return spreadOf(ratios.filter(Number.isFinite));
}

function medianOf(sorted: Float64Array): number {
  const middle = sorted.length / 2;
  const upper = sorted[Math.floor(middle)] ?? Number.NaN;
  if (!Number.isInteger(middle)) return upper;
  return ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}
