/**
 * Slots: the right to have a request on the wire. Owned by the deliverer.
 *
 * S1  A short slot counts against the process and against its origin; a slow origin can hold no more than its own.
 * S2  An attempt that has run for a minute moves to the long pool and frees its short slot; when the long pool is full
 *     it keeps its slot (decisions.md 15).
 * S3  A reservation lasts from before an insert until its attempt has a slot. It holds none meanwhile, since an insert
 *     takes about as long as a call; it is given only while one is free, and never more of them than there are slots.
 */
export type SlotBounds = {
  readonly shortMax: number;
  readonly perOriginMax: number;
  readonly longMax: number;
};

export class Slots {
  readonly #bounds: SlotBounds;
  readonly #perOrigin = new Map<number, number>();
  readonly #reservedPerOrigin = new Map<number, number>();
  #short = 0;
  #long = 0;
  #reserved = 0;

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
    addTo(this.#perOrigin, origin, 1);
  }

  free(origin: number): void {
    this.#short -= 1;
    addTo(this.#perOrigin, origin, -1);
  }

  /** False: no slot is free, or too many are waiting to have one. */
  reserve(origin: number): boolean {
    const { perOriginMax, shortMax } = this.#bounds;
    const reserved = this.#reservedPerOrigin.get(origin) ?? 0;
    if (!this.isFree(origin) || reserved >= perOriginMax || this.#reserved >= shortMax)
      return false;
    this.#reserved += 1;
    addTo(this.#reservedPerOrigin, origin, 1);
    return true;
  }

  /** Its attempt gets a slot, or there is none: the insert has failed. */
  unreserve(origin: number): void {
    this.#reserved -= 1;
    addTo(this.#reservedPerOrigin, origin, -1);
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

/**
 * Origins that are remembered with a count of none: without any, a map that is emptied again and again costs a table each
 * time (ADR 11); without a bound, there are more of them than any process should remember.
 */
const countedMax = 1_000;

function addTo(counts: Map<number, number>, origin: number, n: number): void {
  const count = (counts.get(origin) ?? 0) + n;
  if (count === 0 && counts.size > countedMax) counts.delete(origin);
  else counts.set(origin, count);
}
