const backOffMsMin = 50;
const backOffMsMax = 1_000;

export const backOffMs = (failures: number): number =>
  Math.min(backOffMsMin * 2 ** Math.min(failures, 10), backOffMsMax);
