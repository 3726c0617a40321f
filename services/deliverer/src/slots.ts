/**
 * Slots: the right to have a request on the wire. Owned by the deliverer.
 *
 * S1  A short slot counts against the process and against its origin; a slow origin can hold no more than its own.
 * S2  An attempt that has run for a minute moves to the long pool and frees its short slot; when the long pool is full
 *     it keeps its slot (decisions.md 15).
 */
export type SlotBounds = {
  readonly shortMax: number;
  readonly perOriginMax: number;
  readonly longMax: number;
};

export class Slots {
  readonly #bounds: SlotBounds;
  readonly #perOrigin = new Map<number, number>();
  #short = 0;
  #long = 0;

  constructor(bounds: SlotBounds) {
    this.#bounds = bounds;
  }

  get anyFree(): boolean {
    return this.#short < this.#bounds.shortMax;
  }

  isFree(origin: number): boolean {
    return this.anyFree && (this.#perOrigin.get(origin) ?? 0) < this.#bounds.perOriginMax;
  }

  take(origin: number): void {
    this.#short += 1;
    this.#perOrigin.set(origin, (this.#perOrigin.get(origin) ?? 0) + 1);
  }

  free(origin: number): void {
    this.#short -= 1;
    const left = (this.#perOrigin.get(origin) ?? 1) - 1;
    if (left === 0) this.#perOrigin.delete(origin);
    else this.#perOrigin.set(origin, left);
  }

  /** Moves a short slot to the long pool; false when that is full. */
  lengthen(origin: number): boolean {
    if (this.#long >= this.#bounds.longMax) return false;
    this.#long += 1;
    this.free(origin);
    return true;
  }

  freeLong(): void {
    this.#long -= 1;
  }

  get inUse(): number {
    return this.#short + this.#long;
  }
}
