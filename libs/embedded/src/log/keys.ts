/** Keys of events, which sort in the order of the list. */
import { integer, type Row } from "../database/rows.ts";

export type Key = readonly [at: number, message: number, step: number];

export const compare = (a: Key, b: Key): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

/** Returns the key of a row of `events`. */
export const keyFrom = (row: Row): Key => [
  integer(row["at"]),
  integer(row["message"]),
  integer(row["step"]),
];

export const textOf = (key: Key): string => key.join(".");

export function parseKey(key: string): Key {
  const [at, message, step, ...more] = key.split(".").map(Number);
  if (at === undefined || message === undefined || step === undefined || more.length > 0)
    throw new Error(`no position in the log: ${key}`);
  if (![at, message, step].every(Number.isSafeInteger))
    throw new Error(`no position in the log: ${key}`);
  return [at, message, step];
}

/** Returns the key behind which events from `at` on stand, or those up to `at` in the other order. */
export const keyAt = (at: number, isUp: boolean): Key =>
  isUp ? [at, -1, -1] : [at, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
