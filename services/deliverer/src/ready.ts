/**
 * Attempts that are claimed and have no slot: their inserts were the claims, and others had taken the slots of their
 * origin when they were durable. First come, first served, per origin; there are never more than reservations (S3).
 */
import { type Attempt } from "./attempt.ts";

export class Ready {
  readonly #lines = new Map<number, Attempt[]>();

  add(attempt: Attempt): void {
    const line = this.#lines.get(attempt.origin);
    if (line) line.push(attempt);
    else this.#lines.set(attempt.origin, [attempt]);
  }

  /** Somebody of this origin is in line already: a newcomer must not overtake. */
  has(origin: number): boolean {
    return this.#lines.has(origin);
  }

  /** The next whose origin has a slot by `isFree`. */
  take(isFree: (origin: number) => boolean): Attempt | undefined {
    for (const [origin, line] of this.#lines) {
      if (!isFree(origin)) continue;
      const attempt = line.shift();
      if (line.length === 0) this.#lines.delete(origin);
      if (attempt) return attempt;
    }
    return undefined;
  }
}
