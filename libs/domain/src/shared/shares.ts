/**
 * Shares: one holder may have three quarters of what the other holders have left. The next holder always finds a place,
 * even if all others hold as much as they may: one leaves a quarter, two a seventh, ten a thirty-first.
 */
const share = 3 / 4;

export const shareOf = (max: number, heldByOthers: number): number => share * (max - heldByOthers);

/** Returns the whole of which a single holder may have `part`. */
export const wholeOf = (part: number): number => part / share;

export type Share = {
  /** Returns false when the bytes do not fit, or after `giveBack`. */
  take(bytes: number): boolean;
  /** Gives back all that was taken. May be called again. */
  giveBack(): void;
};

type AtAddress = { bytes: number; readonly byTenant: Map<string, number> };

/**
 * The bytes of one budget, by the tenants and the addresses that hold them.
 *
 * (1) A tenant, and an address, holds at most its share of what the rest have left; a tenant at an address holds at
 *     most its share of what that address may have. So the next holder finds a place, even if all others hold as much as
 *     they may.
 * (2) A holder of nothing may take its first bytes as long as all fit, and the very first take always fits.
 */
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

  /** Reports whether `bytes` fit. An undefined `address` is not known yet; all unknown addresses count as one. */
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

  /** Opens a share for a holder that takes its bytes bit by bit. */
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

  /** Moves bytes that were taken without an address to `address`. */
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
