/**
 * Values by key, made when they are first asked for. Those that are idle are kept as well: without any, a map that is
 * emptied again and again costs a table each time (ADR 11). Once there are `idleMax`, and then each time that as many
 * again have come as were busy, the idle ones are forgotten: looking at all costs each newcomer a step or two.
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

  /** Undefined: there is none, or it was idle and is forgotten. */
  known(key: K): V | undefined {
    return this.#values.get(key);
  }

  /** Stays the same for its key for as long as it is not idle. */
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
