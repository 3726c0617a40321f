/**
 * How much of a shared whole one holder may have: three quarters of what the other holders have left. The next holder always
 * finds room, however many hold all that they may: one leaves a quarter, two a seventh, ten a thirty-first.
 */
const share = 3 / 4;

export const shareOf = (max: number, heldByOthers: number): number => share * (max - heldByOthers);

/** Returns the whole of which a single holder may have `part`. */
export const wholeOf = (part: number): number => part / share;
