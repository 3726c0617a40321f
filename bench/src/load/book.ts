/**
 * Records each message of one job: its intended send, its answer and its arrival.
 *
 * Owns the times of the messages numbered [base, base + capacity).
 * (1) Every message is recorded before its request is written.
 * (2) An arrival is early if it precedes the due time by the caller's own clock, to the millisecond.
 */

/** When the messages of a job should arrive. */
export type Due =
  | { readonly kind: "at once" }
  | { readonly kind: "after"; readonly ms: number }
  | { readonly kind: "at"; readonly unixMs: number }
  | { readonly kind: "never" };

export class Book {
  readonly base: number;
  readonly capacity: number;
  readonly due: Due;
  /** Returns milliseconds. Messages with a due time are measured by the wall clock, by which they are due. */
  readonly now: () => number;

  /** Counts of messages sent, answered with a 2xx, and arrived at the destination, each counted once. */
  sent = 0;
  accepted = 0;
  arrived = 0;
  duplicates = 0;
  early = 0;
  firstSentAt = Number.NaN;
  lastArrivedAt = Number.NaN;
  readonly refusals = new Map<number, number>();

  readonly #intendedAt: Float64Array;
  readonly #answeredAt: Float64Array;
  readonly #arrivedAt: Float64Array;

  constructor(base: number, capacity: number, due: Due) {
    this.base = base;
    this.capacity = capacity;
    this.due = due;
    this.now = due.kind === "at once" ? () => performance.now() : Date.now;
    this.#intendedAt = new Float64Array(capacity);
    this.#answeredAt = new Float64Array(capacity);
    this.#arrivedAt = new Float64Array(due.kind === "never" ? 0 : capacity);
  }

  get isFull(): boolean {
    return this.sent >= this.capacity;
  }

  send(count: number, intendedAt: number): number {
    const first = this.sent;
    if (first + count > this.capacity) throw new Error("more messages than the book has room for");
    if (first === 0) this.firstSentAt = intendedAt;
    this.#intendedAt.fill(intendedAt, first, first + count);
    this.sent += count;
    return this.base + first;
  }

  answer(firstNumber: number, count: number, status: number): void {
    if (status < 200 || status > 299) {
      this.refusals.set(status, (this.refusals.get(status) ?? 0) + count);
      return;
    }
    const first = firstNumber - this.base;
    this.#answeredAt.fill(this.now(), first, first + count);
    this.accepted += count;
  }

  arrive(number: number): void {
    const index = number - this.base;
    if ((this.#arrivedAt[index] ?? 0) !== 0) {
      this.duplicates++;
      return;
    }
    const now = this.now();
    this.#arrivedAt[index] = now;
    this.arrived++;
    this.lastArrivedAt = now;
    if (now < this.#dueAt(index)) this.early++;
  }

  /** Returns the time from the intended send to the answer of each accepted message. */
  publishMs(): Float64Array {
    return this.#each(
      (index) => (this.#answeredAt[index] ?? 0) - (this.#intendedAt[index] ?? 0),
      this.#answeredAt,
    );
  }

  /** Returns the time to each arrival, from the due time or, without a delay, from the intended send. */
  arrivalMs(): Float64Array {
    return this.#each(
      (index) => (this.#arrivedAt[index] ?? 0) - this.#dueAt(index),
      this.#arrivedAt,
    );
  }

  /** Returns when the message arrived, or 0. */
  arrivedAt(index: number): number {
    return this.#arrivedAt[index] ?? 0;
  }

  /** Counts accepted messages that have not arrived, and arrivals of refused messages. */
  missing(): { readonly lost: number; readonly unasked: number } {
    let lost = 0;
    let unasked = 0;
    for (let index = 0; index < this.sent; index++) {
      const accepted = this.#answeredAt[index] !== 0;
      const arrived = (this.#arrivedAt[index] ?? 0) !== 0;
      if (accepted && !arrived) lost++;
      if (arrived && !accepted) unasked++;
    }
    return { lost, unasked };
  }

  #dueAt(index: number): number {
    const intendedAt = this.#intendedAt[index] ?? 0;
    switch (this.due.kind) {
      case "at once":
        return intendedAt;
      case "after":
        return intendedAt + this.due.ms;
      case "at":
        return this.due.unixMs;
      case "never":
        return Number.POSITIVE_INFINITY;
    }
  }

  #each(measure: (index: number) => number, present: Float64Array): Float64Array {
    const values = new Float64Array(this.sent);
    let count = 0;
    for (let index = 0; index < this.sent; index++) {
      if (present[index] !== 0) values[count++] = measure(index);
    }
    return values.subarray(0, count).sort();
  }
}
