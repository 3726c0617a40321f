/**
 * Bytes of bodies in flight: the memory that attempts hold from before their claim until their outcome is stored and told. Owned by the
 * deliverer; a bound beside the slots.
 *
 * (1) Only heavy bodies are counted. Slots bound the light ones, so a flood of heavy bodies delays no light one.
 * (2) Tenants and addresses have shares (shares.ts), so destinations that never answer leave room for the rest. All origins whose
 *     addresses are not yet known share as one address.
 * (3) The first body always fits, however large it is: every accepted message is delivered.
 */
import { limits, Shares, type TenantId } from "@posthaste/domain";
import { type Slots } from "./slots.ts";

/** The assumed size of a body whose hint, from an earlier version, does not say its size. */
const unknownBytes = 1024 * 1024;

/** Returns the bytes that count against the bound: 0 for a light body. */
export const countedBytes = (bodyBytes: number = unknownBytes): number =>
  bodyBytes > limits.lightBytesMax ? bodyBytes : 0;

export type Counted = {
  readonly tenant: TenantId;
  /** Is 0 after `free`. */
  bytes: number;
  address: string | undefined;
};

export class BodyBytes {
  readonly #shares: Shares;
  readonly #slots: Pick<Slots, "addressOf">;

  constructor(bytesMax: number, slots: Pick<Slots, "addressOf">) {
    this.#shares = new Shares(bytesMax);
    this.#slots = slots;
  }

  get inFlight(): number {
    return this.#shares.held;
  }

  fit(tenant: TenantId, origin: number, bytes: number): boolean {
    return bytes === 0 || this.#shares.fit(tenant, this.#slots.addressOf(tenant, origin), bytes);
  }

  /** Returns undefined for a light body. */
  take(tenant: TenantId, origin: number, bytes: number): Counted | undefined {
    return bytes === 0
      ? undefined
      : this.#take(tenant, this.#slots.addressOf(tenant, origin), bytes);
  }

  /** Takes the bytes of a message that is not yet inserted, whose address is not yet known. */
  reserve(tenant: TenantId, bytes: number): Counted | undefined {
    return bytes === 0 ? undefined : this.#take(tenant, undefined, bytes);
  }

  #take(tenant: TenantId, address: string | undefined, bytes: number): Counted {
    this.#shares.take(tenant, address, bytes);
    return { tenant, bytes, address };
  }

  /** Counts the body for the address that its call goes to. */
  locate(counted: Counted, address: string): void {
    if (counted.address !== undefined) return;
    counted.address = address;
    this.#shares.locate(counted.tenant, address, counted.bytes);
  }

  /** May be called again. */
  free(counted: Counted): void {
    const { tenant, address, bytes } = counted;
    counted.bytes = 0;
    this.#shares.free(tenant, address, bytes);
  }
}
