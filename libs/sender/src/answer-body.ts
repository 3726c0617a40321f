/**
 * The body of an answer while it arrives, in one growing buffer. Chunks are copied at once: a chunk is a view of the socket's whole read
 * buffer, and a destination may send a million of one byte each. Above `unbudgetedBytes` the buffer grows only by granted bytes, since
 * thousands of destinations may send almost all of an answer and stop.
 */
const firstBytes = 1_024;
/** Each call may hold this much of an answer; more comes from a budget that all calls share. */
export const unbudgetedBytes = 16 * 1024;

export type AnswerBudget = {
  /** Returns false when there are no more bytes to grant. */
  takeBytes(bytes: number): boolean;
};

export class AnswerBody {
  readonly #bytesMax: number;
  #buffer: Buffer = nothing;
  #length = 0;
  #given = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** Returns false when the body exceeds `bytesMax` or its budget, and is cut there. */
  add(chunk: Uint8Array, budget: AnswerBudget): boolean {
    const wanted = Math.min(this.#length + chunk.length, this.#bytesMax);
    if (wanted > this.#buffer.length) this.#grow(wanted, budget);
    const length = Math.min(wanted, this.#buffer.length);
    this.#buffer.set(chunk.subarray(0, length - this.#length), this.#length);
    const fits = this.#length + chunk.length === length;
    this.#length = length;
    return fits;
  }

  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  get isFull(): boolean {
    return this.#length === this.#bytesMax;
  }

  get given(): number {
    return this.#given;
  }

  /** Most answers are one chunk, which fits exactly. Each byte of a longer one is copied twice at most, on average. */
  #grow(length: number, budget: AnswerBudget): void {
    const isFirst = this.#length === 0;
    const capacity = isFirst ? length : Math.max(length, 2 * this.#buffer.length, firstBytes);
    const grown = Buffer.allocUnsafe(this.#granted(Math.min(capacity, this.#bytesMax), budget));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  /** Returns how much of the wanted capacity is granted, at least the present capacity. */
  #granted(capacity: number, budget: AnswerBudget): number {
    const more = Math.max(0, capacity - unbudgetedBytes - this.#given);
    if (more === 0) return capacity;
    if (!budget.takeBytes(more))
      return Math.max(this.#buffer.length, Math.min(capacity, unbudgetedBytes));
    this.#given += more;
    return capacity;
  }
}

const nothing = Buffer.alloc(0);
