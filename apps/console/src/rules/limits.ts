/** How near a tenant is to what its plan allows. */

export type Used = {
  readonly name: string;
  readonly used: number;
  /** A limit of the plan, and its setting. */
  readonly most: number;
  readonly setting: string;
};

/** From here on it is said. */
const nearShare = 0.8;

export const shareOf = ({ used, most }: Used): number => (most <= 0 ? 0 : Math.min(used / most, 1));
export const isNear = (used: Used): boolean => shareOf(used) >= nearShare;

/** The nearest first. */
export const byNearness = (all: readonly Used[]): readonly Used[] =>
  all.toSorted((a, b) => shareOf(b) - shareOf(a));
