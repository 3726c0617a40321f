/**
 * Values by key, made at their first use. Idle values are kept, since a map that is emptied again and again costs a
 * table each time (ADR 11). They are forgotten once there are `idleMax` values, and then each time the number has
 * doubled, which costs a step or two for each new key.
 */
export class Remembered<K, V> {
  readonly #make: () => V;
  readonly #isIdle: (value: V) => boolean;
  readonly #idleMax: number;
  readonly #values = new Map<K, V>();
  #forgetAt: number;

  constructor(idleMax: number, make: () => V, isIdle: (value: V) => boolean) {
    this.#make = make;
    this.#isIdle = isIdle;
    this.#idleMax = idleMax;
    this.#forgetAt = idleMax;
  }

  get size(): number {
    return this.#values.size;
  }

  /** Returns undefined for a key that was never used or was forgotten. */
  known(key: K): V | undefined {
    return this.#values.get(key);
  }

  /** Returns the value of the key, made if there is none. A busy value stays the same. */
  of(key: K): V {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    if (this.#values.size >= this.#forgetAt) this.#forget();
    const fresh = this.#make();
    this.#values.set(key, fresh);
    return fresh;
  }

  #forget(): void {
    for (const [key, value] of this.#values) if (this.#isIdle(value)) this.#values.delete(key);
    this.#forgetAt = Math.max(this.#idleMax, 2 * this.#values.size);
  }
}
