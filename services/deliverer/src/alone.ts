/**
 * Messages that took their process down too often are called one after another, beside the rest. They hold no slot,
 * neither in line nor while they are called: one call at a time is their bound.
 */
export class Alone {
  readonly #lineMax: number;
  #last: Promise<void> = Promise.resolve();
  #length = 0;

  constructor(lineMax: number) {
    this.#lineMax = lineMax;
  }

  /** False: the line is as long as it may be, and `call` will not be made. It never rejects. */
  add(call: () => Promise<void>): boolean {
    if (this.#length >= this.#lineMax) return false;
    this.#length += 1;
    this.#last = this.#last.then(call).finally(() => (this.#length -= 1));
    return true;
  }
}
