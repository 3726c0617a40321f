/**
 * A map whose entries take turns: the first is taken out, and may be put back behind the rest.
 *
 * `[first] = map` visits the places of all entries that were deleted before the first, until the map has a new table:
 * taking a hundred thousand entries that way takes seconds. An iterator that is kept visits each place once.
 */
export class RoundRobin<K, V> {
  readonly #entries = new Map<K, V>();
  #order = this.#entries.entries();

  get size(): number {
    return this.#entries.size;
  }

  get(key: K): V | undefined {
    return this.#entries.get(key);
  }

  has(key: K): boolean {
    return this.#entries.has(key);
  }

  /** Puts the entry behind the rest, even if `key` was further in front. */
  put(key: K, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
  }

  take(): readonly [K, V] | undefined {
    const first = this.#order.next().value ?? this.#fromTheBeginning();
    if (first) this.#entries.delete(first[0]);
    return first;
  }

  clear(): void {
    this.#entries.clear();
  }

  /** An iterator that has reached its end while the map was empty stays there, so a new one is made. */
  #fromTheBeginning(): [K, V] | undefined {
    this.#order = this.#entries.entries();
    return this.#order.next().value;
  }
}
