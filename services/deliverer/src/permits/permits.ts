/**
 * Permits: the right to call. A permit is a slot at an origin, the bytes of a heavy body, and a slot of its tenant's
 * cap; slots.ts and caps.ts have the rules of slots and caps. Owned by the deliverer.
 *
 * (1) A permit gives its slot back when the call has ended, and its bytes when the outcome has been told (attempt.ts).
 * (2) When anything is given back, the lines that wait for it are looked at again.
 * (3) A publish reserves a place in line, and the bytes of its body, before its insert
 *     (docs/design/record#claimed-by-its-insert).
 * (4) Only the bytes of heavy bodies are counted. Slots bound the light ones, so a flood of heavy bodies delays no
 *     light one. Tenants and addresses have shares of the bytes; all origins whose addresses are not yet known share
 *     as one address. The first body always fits, however large it is: every accepted message is delivered.
 */
import { limits, type MessageId, Shares, type TenantId } from "@posthaste/domain";
import { type CapPorts, Caps } from "./caps.ts";
import { PlaceWaits } from "./place-waits.ts";
import { type Slot, type SlotBounds, Slots } from "./slots.ts";

export type PermitOptions = {
  readonly slots: SlotBounds;
  readonly bodyBytesMax: number;
  /** Reports whether the process has no time to spare. Absent: publishes never wait for a place in line. */
  readonly isBusy?: () => boolean;
};

/** The waiting lines, as far as they are told of permits given back. */
export type Freed = {
  /** Called when an origin may have a slot. */
  unblock(tenant: TenantId, origin: number): void;
  /** Called when bytes were given back. `all`: no body is in flight that would give back more. */
  unblockHeavy(all: boolean): void;
  /** Called when waiting messages may begin. */
  readonly goOn: () => void;
};

/** The call that a permit is for. `bytes`: the bytes of the body. */
export type Need = {
  readonly tenant: TenantId;
  readonly origin: number;
  readonly bytes: number;
};

/** Returns the bytes that count against the bound: 0 for a light body. */
export const countedBytes = (bodyBytes: number): number =>
  bodyBytes > limits.lightBytesMax ? bodyBytes : 0;

/** A permit whose attempt waits in line. */
export type Place = Pick<Permit, "begin" | "giveSlotBack" | "end">;
/** A permit whose call has ended: the bytes of its body. */
export type Body = Pick<Permit, "end">;

type Counts = {
  readonly slots: Slots;
  readonly bytes: Shares;
  readonly placeWaits: PlaceWaits;
  readonly caps: Caps;
  readonly lines: Freed;
};

export class Permits {
  readonly caps: Caps;
  readonly placeWaits: PlaceWaits;
  readonly #counts: Counts;

  constructor(ports: CapPorts, options: PermitOptions, lines: Freed) {
    const slots = new Slots(options.slots);
    const bytes = new Shares(options.bodyBytesMax);
    this.caps = new Caps(ports, lines.goOn);
    this.placeWaits = new PlaceWaits(ports.clock, options.isBusy ?? (() => false));
    this.#counts = { slots, bytes, placeWaits: this.placeWaits, caps: this.caps, lines };
  }

  /** Reports whether the process has a slot for anything. */
  get anyFree(): boolean {
    return this.#counts.slots.anyFree;
  }

  get bytesInFlight(): number {
    return this.#counts.bytes.held;
  }

  /** Returns how many calls of the tenant are under way. */
  heldBy(tenant: TenantId): number {
    return this.#counts.slots.heldBy(tenant);
  }

  /** Reports whether the tenant may have a permit, whatever the origin. */
  isFreeFor(tenant: TenantId): boolean {
    const { slots } = this.#counts;
    return slots.anyFree && slots.isFreeFor(tenant) && this.caps.mayTake(tenant);
  }

  /** Reports whether a permit for this call is free, leaving out the tenant's cap. */
  isFree({ bytes, origin, tenant }: Need): boolean {
    const { slots, bytes: bodies } = this.#counts;
    const counted = countedBytes(bytes);
    return (
      slots.isFree(tenant, origin) &&
      (counted === 0 || bodies.fit(tenant, slots.addressOf(tenant, origin), counted))
    );
  }

  /** Takes slot and bytes. The caller has checked that they are free. */
  take({ bytes, origin, tenant }: Need): Permit {
    const { slots } = this.#counts;
    const permit = new Permit(this.#counts, tenant, origin, slots.take(tenant, origin));
    permit.weigh(bytes);
    return permit;
  }

  /**
   * Reserves a place in line, and bytes at an unknown address. Returns undefined when the tenant has a cap, or when
   * the tenant or the origin has its share of places.
   */
  reserve({ bytes, origin, tenant }: Need): Permit | undefined {
    if (this.caps.isCapped(tenant)) return undefined;
    const slot = this.#counts.slots.reserve(tenant, origin);
    if (!slot) return undefined;
    const permit = new Permit(this.#counts, tenant, origin, slot);
    permit.weigh(bytes);
    return permit;
  }

  /** Returns the wait for a place in line; undefined when waiting would gain nothing. */
  waitForPlace(tenant: TenantId, origin: number, bytes: number): Promise<void> | undefined {
    const mayGain = !this.caps.isCapped(tenant) && countedBytes(bytes) === 0;
    return mayGain ? this.placeWaits.wait(tenant, origin) : undefined;
  }
}

export class Permit {
  readonly tenant: TenantId;
  readonly origin: number;
  readonly #counts: Counts;
  #slot: Slot | undefined;
  /** The bytes of a heavy body, and the address for which they count. */
  #bytes = 0;
  #address: string | undefined;

  constructor(counts: Counts, tenant: TenantId, origin: number, slot: Slot) {
    this.#counts = counts;
    this.tenant = tenant;
    this.origin = origin;
    this.#slot = slot;
  }

  /** Is undefined after the call. */
  get slot(): Readonly<Slot> | undefined {
    return this.#slot;
  }

  /** Turns the place in line into a slot. */
  begin(): this {
    if (this.#slot) this.#counts.slots.begin(this.#slot);
    this.#counts.placeWaits.freed(this.tenant, this.origin);
    return this;
  }

  /** Counts the body by the size in the record, which decides. */
  weigh(bodyBytes: number): void {
    const counted = countedBytes(bodyBytes);
    const [before, address] = [this.#bytes, this.#address];
    if (counted === before) return;
    const isPlace = this.#slot?.kind === "reserved";
    this.#address = isPlace ? undefined : this.#knownAddress;
    this.#bytes = counted;
    this.#counts.bytes.take(this.tenant, this.#address, counted);
    this.#freeBytes(before, address);
  }

  /** Counts slot and body for the address that the call goes to; undefined while that is not known. */
  locate(address: string | undefined): void {
    const { bytes, lines, slots } = this.#counts;
    if (this.#slot && !this.#slot.isLocated && address !== undefined) {
      slots.locate(this.#slot, address);
      lines.unblock(this.tenant, this.origin);
    }
    if (this.#bytes === 0 || this.#address !== undefined) return;
    this.#address = address ?? this.#knownAddress;
    if (this.#address !== undefined) bytes.locate(this.tenant, this.#address, this.#bytes);
  }

  /** Moves a call that waits for its answer out of its short slot, unless waiting calls hold their share already. */
  leaveShort(): void {
    if (this.#slot) this.#counts.slots.leaveShort(this.#slot);
  }

  /** Counts a long call no longer for its origin. */
  leaveOrigin(): void {
    if (!this.#slot) return;
    this.#counts.slots.leaveOrigin(this.#slot);
    this.#counts.lines.unblock(this.tenant, this.origin);
  }

  /** Gives back slot and place in line. `call`: the call that has ended, with the address that it reached. */
  giveSlotBack(call?: { readonly address?: string | undefined }): void {
    const slot = this.#slot;
    if (!slot) return;
    const { lines, placeWaits, slots } = this.#counts;
    this.#slot = undefined;
    if (call) slots.ended(slot, call.address);
    slots.free(slot);
    if (slot.kind === "reserved") return placeWaits.freed(this.tenant, this.origin);
    lines.unblock(this.tenant, this.origin);
    lines.goOn();
  }

  /** Gives the slot of the tenant's cap back. */
  leaveCap(id: MessageId): void {
    this.#counts.caps.free(this.tenant, id);
  }

  /** Gives back slot, place in line and bytes. */
  end(): void {
    this.giveSlotBack();
    const counted = this.#bytes;
    this.#bytes = 0;
    this.#freeBytes(counted, this.#address);
  }

  get #knownAddress(): string | undefined {
    return this.#counts.slots.addressOf(this.tenant, this.origin);
  }

  #freeBytes(counted: number, address: string | undefined): void {
    if (counted === 0) return;
    const { bytes, lines } = this.#counts;
    bytes.free(this.tenant, address, counted);
    lines.unblockHeavy(bytes.held === 0);
  }
}
