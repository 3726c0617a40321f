/** Keys of events, which sort in the order of the list. */
import { type Answered } from "@posthaste/domain";
import { integer, optionalInteger, type Row } from "../database/rows.ts";

export type Key = readonly [at: number, message: number, step: number];

/** An event as a list reads it. `answered`: the answer of a DELIVERED event. */
export type Told = readonly [...Key, answered?: Answered | undefined];

export const compare = (a: Told, b: Told): number => a[0] - b[0] || a[1] - b[1] || a[2] - b[2];

export const toldFrom = (row: Row): Told => [
  integer(row["at"]),
  integer(row["message"]),
  integer(row["step"]),
  answeredFrom(row),
];

export function answeredFrom(row: Row): Answered | undefined {
  const status = optionalInteger(row["answer_status"] ?? null);
  return status === undefined ? undefined : { status, bytes: integer(row["answer_bytes"]) };
}

export const textOf = ([at, message, step]: Told): string => `${at}.${message}.${step}`;

export function parseKey(key: string): Key {
  const [at, message, step, ...more] = key.split(".").map(Number);
  if (at === undefined || message === undefined || step === undefined || more.length > 0)
    throw new Error(`not a position in the log: ${key}`);
  if (![at, message, step].every(Number.isSafeInteger))
    throw new Error(`not a position in the log: ${key}`);
  return [at, message, step];
}

/** Returns the key after which events from `at` on come, or, in the other order, events up to `at`. */
export const keyAt = (at: number, isUp: boolean): Key =>
  isUp ? [at, -1, -1] : [at, Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
