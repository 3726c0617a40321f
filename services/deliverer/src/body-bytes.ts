/**
 * Bytes of bodies in flight: what attempts hold in memory, from before their claim until the store has their outcome and
 * each part that it concerns is told. Owned by the deliverer; one more bound beside the slots.
 *
 * (1) Only heavy bodies are counted. Slots bound how many light ones there are, so no flood of heavy ones delays them.
 * (2) Tenants and addresses have shares of them (shares.ts): destinations that never answer leave room for the rest,
 *     whatever their names are. The origins whose addresses are not known yet are one address together.
 * (3) The first body always fits, however large it is: what was accepted is delivered.
 */
import { limits, Shares, type TenantId } from "@posthaste/domain";
import { type Slots } from "./slots.ts";

/** What a body is taken to weigh whose size is not known: hints of an earlier version do not say it. */
const unknownBytes = 1024 * 1024;

/** 0: it is not counted. */
export const countedBytes = (bodyBytes: number = unknownBytes): number =>
  bodyBytes > limits.lightBytesMax ? bodyBytes : 0;

/** A body that is counted: whose, where, and how much, as `countedBytes` says. */
export type Counted = {
  readonly tenant: TenantId;
  /** 0 once they were given back. */
  bytes: number;
  address: string | undefined;
};

/** What `reserve` has taken. */
export const reservedBytes = (tenant: TenantId, bytes: number): Counted | undefined =>
  bytes === 0 ? undefined : { tenant, bytes, address: undefined };

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

  /** Undefined: it is not counted. */
  take(tenant: TenantId, origin: number, bytes: number): Counted | undefined {
    if (bytes === 0) return undefined;
    const address = this.#slots.addressOf(tenant, origin);
    this.#shares.take(tenant, address, bytes);
    return { tenant, bytes, address };
  }

  /** For a message that is still to be inserted: where it goes is said by its call. What it has taken is `reservedBytes`. */
  reserve(tenant: TenantId, bytes: number): void {
    this.#shares.take(tenant, undefined, bytes);
  }

  /** Where it goes is known now. */
  locate(counted: Counted, address: string): void {
    if (counted.address !== undefined) return;
    counted.address = address;
    this.#shares.locate(counted.tenant, address, counted.bytes);
  }

  /** More than once is no harm. */
  free(counted: Counted): void {
    const { tenant, address, bytes } = counted;
    counted.bytes = 0;
    this.#shares.free(tenant, address, bytes);
  }
}
