/**
 * Bytes of bodies in flight: what attempts hold in memory, from before their claim until the store has their outcome and
 * everyone whom it concerns is told. Owned by the deliverer; one more bound beside the slots.
 *
 * (1) Only heavy bodies are counted. Slots bound how many light ones there are, so no flood of heavy ones delays them.
 * (2) One origin and one tenant hold no more than their shares: a destination that never answers leaves room for the rest.
 * (3) The first body always fits, however large it is: what was accepted is delivered.
 */
import { limits, type TenantId } from "@posthaste/domain";

/** What a body is taken to weigh whose size is not known: hints of an earlier version do not say it. */
const unknownBytes = 1024 * 1024;

/** Of all bytes, so much is for one origin and for one tenant. */
const shareOfOrigin = 1 / 2;
const shareOfTenant = 3 / 4;

/** 0: it is not counted. */
export const countedBytes = (bodyBytes: number = unknownBytes): number =>
  bodyBytes > limits.lightBytesMax ? bodyBytes : 0;

export class BodyBytes {
  readonly #bytesMax: number;
  readonly #ofTenants = new Map<TenantId, number>();
  readonly #ofOrigins = new Map<number, number>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get inFlight(): number {
    return this.#bytes;
  }

  /** `counted`: as `countedBytes` says. */
  fit(tenant: TenantId, origin: number, counted: number): boolean {
    if (counted === 0 || this.#bytes === 0) return true;
    return (
      this.#bytes + counted <= this.#bytesMax &&
      fitsShare(this.#ofOrigins.get(origin), counted, this.#bytesMax * shareOfOrigin) &&
      fitsShare(this.#ofTenants.get(tenant), counted, this.#bytesMax * shareOfTenant)
    );
  }

  take(tenant: TenantId, origin: number, counted: number): void {
    if (counted === 0) return;
    this.#bytes += counted;
    addTo(this.#ofOrigins, origin, counted);
    addTo(this.#ofTenants, tenant, counted);
  }

  free(tenant: TenantId, origin: number, counted: number): void {
    this.take(tenant, origin, -counted);
  }
}

const fitsShare = (held: number | undefined, counted: number, share: number): boolean =>
  held === undefined || held + counted <= share;

function addTo<Key>(held: Map<Key, number>, key: Key, bytes: number): void {
  const sum = (held.get(key) ?? 0) + bytes;
  if (sum === 0) held.delete(key);
  else held.set(key, sum);
}
