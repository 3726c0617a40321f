/**
 * The body of an answer while it comes in, in one buffer that grows. What comes is copied at once: a chunk is a view of
 * the socket's whole read buffer, and a destination may send a million of one byte each. Beyond `freeBytes` the buffer
 * grows only as far as it is given bytes, since thousands of destinations may send almost all and stop.
 */
const firstBytes = 1_024;
/** Each call may hold so much of an answer; more is of a budget for all of them. */
export const freeBytes = 16 * 1024;

export type AnswerRoom = {
  /** False: there are no more to give. */
  takeBytes(bytes: number): boolean;
};

export class AnswerBody {
  readonly #bytesMax: number;
  #buffer: Buffer = nothing;
  #length = 0;
  /** Bytes that it was given. */
  #given = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /** False: it is longer than `bytesMax`, or than there is room for, and cut there. */
  add(chunk: Uint8Array, room: AnswerRoom): boolean {
    const wanted = Math.min(this.#length + chunk.length, this.#bytesMax);
    if (wanted > this.#buffer.length) this.#grow(wanted, room);
    const length = Math.min(wanted, this.#buffer.length);
    this.#buffer.set(chunk.subarray(0, length - this.#length), this.#length);
    const fits = this.#length + chunk.length === length;
    this.#length = length;
    return fits;
  }

  /** What there is of it. */
  get bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length);
  }

  /** The body has as many bytes as it may have. */
  get isFull(): boolean {
    return this.#length === this.#bytesMax;
  }

  get given(): number {
    return this.#given;
  }

  /** Most answers are one chunk, which fits exactly; of the rest each byte is copied twice at most, on average. */
  #grow(length: number, room: AnswerRoom): void {
    const isFirst = this.#length === 0;
    const capacity = isFirst ? length : Math.max(length, 2 * this.#buffer.length, firstBytes);
    const grown = Buffer.allocUnsafe(this.#granted(Math.min(capacity, this.#bytesMax), room));
    this.#buffer.copy(grown, 0, 0, this.#length);
    this.#buffer = grown;
  }

  /** Of this capacity what it may have, and what it has already at least. */
  #granted(capacity: number, room: AnswerRoom): number {
    const more = Math.max(0, capacity - freeBytes - this.#given);
    if (more === 0) return capacity;
    if (!room.takeBytes(more)) return Math.max(this.#buffer.length, Math.min(capacity, freeBytes));
    this.#given += more;
    return capacity;
  }
}

const nothing = Buffer.alloc(0);
