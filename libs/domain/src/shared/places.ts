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
