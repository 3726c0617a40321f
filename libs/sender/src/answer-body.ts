/**
 * The body of an answer while it comes in, in one buffer that grows. What comes is copied at once: a chunk is a view of
 * the socket's whole read buffer, and a destination may send a million of one byte each.
 */
const firstBytes = 1_024;

export class AnswerBody {
  readonly #bytesMax: number;
  #buffer: Buffer = nothing;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** False: it is longer than `bytesMax`, and cut there. */
  add(chunk: Uint8Array): boolean {
    const length = Math.min(this.#length + chunk.length, this.#bytesMax);
    if (length > this.#buffer.length) this.#grow(length);
    this.#buffer.set(chunk.subarray(0, length - this.#length), this.#length);
    const fits = this.#length + chunk.length === length;
    this.#length = length;
    return fits;
  }

  /** What there is of it. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Most answers are one chunk, which fits exactly; of the rest each byte is copied twice at most, on average. */
  #grow(length: number): void {
    const isFirst = this.#length === 0;
    const capacity = isFirst ? length : Math.max(length, 2 * this.#buffer.length, firstBytes);
    const grown = Buffer.allocUnsafe(Math.min(capacity, this.#bytesMax));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }
}

const nothing = Buffer.alloc(0);
