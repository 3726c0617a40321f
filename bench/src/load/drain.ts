/** Waits until every accepted message has arrived, and reports those that have not. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Book } from "./book.ts";
import { type Books } from "./books.ts";

export type Counts = {
  readonly sent: number;
  readonly accepted: number;
  readonly arrived: number;
  /** Answered with a 2xx, and not arrived when the wait ended. */
  readonly lost: number;
  readonly waitedMs: number;
  readonly unasked: number;
  readonly duplicates: number;
  readonly early: number;
  readonly refusals: ReadonlyMap<number, number>;
};

const pollMs = 5;
/** Long enough for a duplicate that follows at once. A later duplicate is reported as unexpected, and fails the run as well. */
const duplicateMs = 50;

export async function drained(books: Books, book: Book, drainMsMax = 30_000): Promise<Counts> {
  const startedAt = performance.now();
  const deadline = startedAt + drainMsMax;
  while (book.arrived < book.accepted && performance.now() < deadline) await sleep(pollMs);
  await sleep(duplicateMs);
  books.close(book);
  const { sent, accepted, arrived, duplicates, early, refusals } = book;
  const waitedMs = performance.now() - startedAt;
  return { sent, accepted, arrived, duplicates, early, refusals, waitedMs, ...book.missing() };
}

/** The status of a refusal. An overloaded system should refuse, so this is noted, but loses nothing. */
export const overloaded = 503;

export function countFaults(who: string, counts: Counts): readonly string[] {
  const faults: string[] = [];
  const check = (count: number, what: string) => {
    if (count > 0) faults.push(`${who}: ${count} of ${counts.sent} messages ${what}`);
  };
  check(
    counts.lost,
    `had not arrived ${Math.round(counts.waitedMs / 1000)} s after the last was sent`,
  );
  check(counts.unasked, "were refused, yet delivered");
  check(counts.duplicates, "arrived twice");
  check(counts.early, "arrived early");
  for (const [status, count] of counts.refusals) {
    if (status !== overloaded)
      check(count, status === 0 ? "got no answer" : `were refused with ${status}`);
  }
  return faults;
}
