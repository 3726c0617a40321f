/** Chance from a seed: the same seed gives the same run, so a failing seed can join the fixed list. */
import { type Random } from "@posthaste/ports";

/** A generator of test data: integers, choices and orders, all from one seed. */
export type Dice = {
  /** In [0, 1). */
  readonly fraction: () => number;
  /** From `min` to `max`, both included. */
  readonly integer: (min: number, max: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(items: readonly [T, ...(readonly T[])]) => T;
  readonly shuffled: <T>(items: readonly T[]) => readonly T[];
  readonly bytes: (length: number) => Uint8Array;
  /** Returns a separate generator, so that one more draw here does not change the draws there. */
  readonly fork: () => Dice;
};

export function dice(seed: number): Dice {
  const fraction = mulberry32(seed);
  const integer = (min: number, max: number): number =>
    min + Math.floor(fraction() * (max - min + 1));
  return {
    fraction,
    integer,
    chance: (probability) => fraction() < probability,
    pick: (items) => items[integer(0, items.length - 1)] ?? items[0],
    shuffled: (items) =>
      items
        .map((item) => ({ item, place: fraction() }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ item }) => item),
    bytes: (length) => Uint8Array.from({ length }, () => integer(0, 255)),
    fork: () => dice(integer(0, 0xffff_ffff)),
  };
}

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/** The port `Random`; guessable. */
export function seededRandom(seed: number): Random {
  const { fraction, integer } = dice(seed);
  const character = (): string => alphabet.charAt(integer(0, alphabet.length - 1));
  return { fraction, text: (length) => Array.from({ length }, character).join("") };
}

/** Mulberry32 (public domain): 32 bits of state are plenty for test data. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
