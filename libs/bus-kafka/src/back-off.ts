const backOffMsMin = 50;
const backOffMsMax = 1_000;

/** Doubling, for the wait after the n-th failure in a row; the first is 0. */
export const backOffMs = (failures: number): number =>
  Math.min(backOffMsMin * 2 ** Math.min(failures, 10), backOffMsMax);
