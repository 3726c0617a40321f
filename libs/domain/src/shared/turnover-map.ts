/** A list in which each value has a place, by which it is removed. Places are reused. */
export class Places<V> {
  readonly #values: (V | undefined)[] = [];
  readonly #free: number[] = [];

  get size(): number {
    return this.#values.length - this.#free.length;
  }

  add(value: V): number {
    const place = this.#free.pop() ?? this.#values.length;
    this.#values[place] = value;
    return place;
  }

  at(place: number): V | undefined {
    return this.#values[place];
  }

  replace(place: number, value: V): void {
    this.#values[place] = value;
  }

  /** Must be called once for each value added. */
  remove(place: number): void {
    this.#values[place] = undefined;
    this.#free.push(place);
  }

  /** Returns the values in no order; values added meanwhile may be among them. */
  *values(): Generator<V> {
    for (const value of this.#values) if (value !== undefined) yield value;
  }
}

/**
 * A map for entries that come and go by the thousand under small keys.
 *
 * V8 gives a Map a new table after about as many deletes as the old table has places, and links the old table to
 * the new. Once one of the tables is in the old generation, everything that was ever in the tables after it outlives
 * the young generation: messages that are long forgotten wait, some kilobytes each, for a full collection. Here the
 * tables hold places only, and a map that becomes empty begins anew, without a link from its old tables.
 */
export class TurnoverMap<K, V> {
  #places = new Map<K, number>();
  readonly #values = new Places<V>();

  get size(): number {
    return this.#places.size;
  }

  has(key: K): boolean {
    return this.#places.has(key);
  }

  get(key: K): V | undefined {
    const place = this.#places.get(key);
    return place === undefined ? undefined : this.#values.at(place);
  }

  set(key: K, value: V): void {
    const place = this.#places.get(key);
    if (place === undefined) this.#places.set(key, this.#values.add(value));
    else this.#values.replace(place, value);
  }

  delete(key: K): void {
    const place = this.#places.get(key);
    if (place === undefined) return;
    if (this.#places.size === 1) this.#places = new Map();
    else this.#places.delete(key);
    this.#values.remove(place);
  }

  /** Returns the keys, oldest first. */
  keys(): MapIterator<K> {
    return this.#places.keys();
  }

  /** Returns the values in no order. */
  values(): Generator<V> {
    return this.#values.values();
  }
}
