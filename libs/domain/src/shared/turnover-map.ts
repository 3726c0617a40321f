import { Places } from "./places.ts";

/**
 * A map for entries that come and go by the thousand under small keys.
 *
 * V8 gives a Map a new table after about as many deletes as the old table has room for, and links the old table to
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
