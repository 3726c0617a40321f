/**
 * Bytes of one budget, by the tenants and the addresses that hold them.
 *
 * (1) No tenant, no address and no tenant at an address holds more than its share of what the rest have left, of the last
 *     kind: of what the address may have. So the next one finds room, however many hold all that they may.
 * (2) One that holds nothing may have its first, as long as all fit, and the first of all always fits.
 */
import { shareOf } from "./share.ts";

export type Share = {
  /** False: they do not fit, or all were given back. */
  take(bytes: number): boolean;
  /** All that was taken. More than once is no harm. */
  giveBack(): void;
};

type AtAddress = { bytes: number; readonly byTenant: Map<string, number> };

export class Shares {
  readonly #max: number;
  readonly #tenants = new Map<string, number>();
  readonly #addresses = new Map<string, AtAddress>();
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get held(): number {
    return this.#held;
  }

  /** `address` undefined: it is not known yet, and until then all that are not known are one. */
  fit(tenant: string, address: string | undefined, bytes: number): boolean {
    if (this.#held === 0) return true;
    if (this.#held + bytes > this.#max) return false;
    const ofTenant = this.#tenants.get(tenant) ?? 0;
    if (!fitsShare(ofTenant, bytes, this.#max, this.#held)) return false;
    const at = this.#addresses.get(address ?? unknown);
    if (at === undefined) return true;
    const ofAddressMax = shareOf(this.#max, this.#held - at.bytes);
    return (
      fitsShare(at.bytes, bytes, this.#max, this.#held) &&
      fitsShare(at.byTenant.get(tenant) ?? 0, bytes, ofAddressMax, at.bytes)
    );
  }

  take(tenant: string, address: string | undefined, bytes: number): void {
    this.#held += bytes;
    add(this.#tenants, tenant, bytes);
    this.#addAt(tenant, address ?? unknown, bytes);
  }

  free(tenant: string, address: string | undefined, bytes: number): void {
    this.take(tenant, address, -bytes);
  }

  /** For a holder that takes its bytes bit by bit. */
  open(tenant: string, address: string | undefined): Share {
    let bytes = 0;
    let isOver = false;
    return {
      take: (more) => {
        if (isOver || !this.fit(tenant, address, more)) return false;
        this.take(tenant, address, more);
        bytes += more;
        return true;
      },
      giveBack: () => {
        if (!isOver) this.free(tenant, address, bytes);
        isOver = true;
      },
    };
  }

  /** What was taken without an address goes to this one. */
  locate(tenant: string, address: string, bytes: number): void {
    this.#addAt(tenant, unknown, -bytes);
    this.#addAt(tenant, address, bytes);
  }

  #addAt(tenant: string, address: string, bytes: number): void {
    if (bytes === 0) return;
    const at = this.#addresses.get(address) ?? { bytes: 0, byTenant: new Map<string, number>() };
    at.bytes += bytes;
    add(at.byTenant, tenant, bytes);
    if (at.bytes === 0) this.#addresses.delete(address);
    else this.#addresses.set(address, at);
  }
}

const unknown = "";

const fitsShare = (held: number, bytes: number, max: number, all: number): boolean =>
  held === 0 || held + bytes <= shareOf(max, all - held);

function add(held: Map<string, number>, key: string, bytes: number): void {
  const sum = (held.get(key) ?? 0) + bytes;
  if (sum === 0) held.delete(key);
  else held.set(key, sum);
}
