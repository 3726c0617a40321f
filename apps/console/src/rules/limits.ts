export type Used = {
  readonly name: string;
  readonly used: number;
  readonly most: number;
  readonly setting: string;
};

const nearShare = 0.8;

export const shareOf = ({ used, most }: Used): number => (most <= 0 ? 0 : Math.min(used / most, 1));
export const isNear = (used: Used): boolean => shareOf(used) >= nearShare;

export const byNearness = (all: readonly Used[]): readonly Used[] =>
  all.toSorted((a, b) => shareOf(b) - shareOf(a));
