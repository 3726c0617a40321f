/**
 * Slots: the right to have a request on the wire. Owned by the deliverer.
 *
 * (1) A call that waits for its answer holds up no other call: it has a short slot for its first second, then one of those for
 *     waiting calls; while it may have none of those it keeps its short one (ADR 15).
 * (2) Of both kinds a tenant, an address and a tenant at an address may have their share of what the rest have left,
 *     and no more; and of what its tenant may have, here and at its address, each origin the same (ADR 145). While the
 *     address of an origin is unknown, its calls count for their tenant alone, and are few.
 * (3) A call counts for its origin in its first minute, of whichever kind its slot is: that bound is the destination's. It
 *     holds for each tenant, and together they have a third more, so that none of them keeps the rest from it (ADR 70).
 * (4) A reservation lasts from before an insert until its attempt has a slot. It holds none meanwhile, since an insert
 *     takes about as long as a call; it is given only while one is free, and its tenant has its share of those, too.
 */
import { shareOf, type TenantId, wholeOf } from "@posthaste/domain";
import { type Held, Holders, type Kind, noneHeld } from "./holders.ts";
import { addHeld, addSlot, type Origin, Origins } from "./origins.ts";

export type SlotBounds = {
  readonly shortMax: number;
  readonly perOriginMax: number;
  readonly waitingMax: number;
};

type SlotConfig = {
  readonly maxInFlight: number;
  readonly maxPerOrigin: number;
  readonly maxWaiting: number;
};

/** Within so many calls at once. Where they are few, half are for those that have just begun. Pure. */
export function slotBounds(config: SlotConfig, callsMax: number): SlotBounds {
  const shortMax = Math.max(1, Math.min(config.maxInFlight, Math.ceil(callsMax / 2)));
  const waitingMax = Math.max(0, Math.min(config.maxWaiting, callsMax - shortMax));
  return { shortMax, perOriginMax: config.maxPerOrigin, waitingMax };
}

export type Slot = {
  readonly origin: Origin;
  readonly tenant: Held;
  /** Of all calls to its address, and of its tenant's calls to it. */
  address: Held | undefined;
  ownOfAddress: Held | undefined;
  kind: "short" | "waiting";
  countsForOrigin: boolean;
  isFree: boolean;
};

/** Calls to an origin that is not known yet: a tenant with a thousand names for one server shows it soon. */
const unknownMax = 4;

export class Slots {
  readonly #bounds: Readonly<Record<Kind, number>>;
  readonly #perOriginMax: number;
  /** Of all tenants at one origin. */
  readonly #ofAllMax: number;
  readonly #held = noneHeld();
  readonly #holders = new Holders();
  readonly #origins = new Origins();

  constructor({ shortMax, waitingMax, perOriginMax }: SlotBounds) {
    this.#bounds = { short: shortMax, waiting: waitingMax, reserved: shortMax };
    this.#perOriginMax = perOriginMax;
    this.#ofAllMax = wholeOf(perOriginMax);
  }

  get anyFree(): boolean {
    return this.#held.short < this.#bounds.short;
  }

  /** Of any origin. */
  isFreeFor(tenant: TenantId): boolean {
    return this.#hasShare("short", this.#holders.ofTenant(tenant));
  }

  isFree(tenant: TenantId, origin: number): boolean {
    if (!this.isFreeFor(tenant)) return false;
    const known = this.#origins.known(tenant, origin);
    if (known === undefined) return this.#hasPlace(0, unknownMax, this.#origins.held(origin));
    const { held, isKnown, ofAll } = known;
    const max = isKnown ? this.#perOriginMax : unknownMax;
    return this.#hasPlace(held, max, ofAll.held - held) && this.#mayHold("short", tenant, known);
  }

  take(tenant: TenantId, origin: number): Slot {
    const of = this.#origins.of(tenant, origin);
    addHeld(of, 1);
    const slot: Slot = {
      origin: of,
      tenant: this.#holders.ofTenant(tenant),
      address: undefined,
      ownOfAddress: undefined,
      kind: "short",
      countsForOrigin: true,
      isFree: false,
    };
    this.#count(slot, 1);
    if (of.address !== undefined) this.#place(slot, tenant, of.address);
    return slot;
  }

  /** More than once is no harm. */
  free(slot: Slot): void {
    if (slot.isFree) return;
    slot.isFree = true;
    this.#count(slot, -1);
    this.leaveOrigin(slot);
  }

  /** Where its call goes, which counts for that address from now on. */
  locate(slot: Slot, tenant: TenantId, address: string): void {
    slot.origin.address = address;
    slot.origin.isKnown = true;
    if (slot.address === undefined) this.#place(slot, tenant, address);
  }

  /** Its call has ended, and gone there; undefined: nowhere. */
  ended({ origin }: Slot, address: string | undefined): void {
    origin.address = address ?? origin.address;
    origin.isKnown = true;
  }

  /** It has waited for so long that it leaves its short slot. False: calls that wait have their share already. */
  wait(slot: Slot, tenant: TenantId): boolean {
    if (!this.#hasShare("waiting", slot.tenant)) return false;
    if (!this.#mayHold("waiting", tenant, slot.origin)) return false;
    this.#count(slot, -1);
    slot.kind = "waiting";
    this.#count(slot, 1);
    return true;
  }

  /** It runs for long: its origin may have another. */
  leaveOrigin(slot: Slot): void {
    if (!slot.countsForOrigin) return;
    slot.countsForOrigin = false;
    addHeld(slot.origin, -1);
  }

  /** False: no slot is free, or too many are waiting to have one. */
  reserve(tenant: TenantId, origin: number): boolean {
    const held = this.#holders.ofTenant(tenant);
    if (!this.isFree(tenant, origin) || !this.#hasShare("reserved", held)) return false;
    const of = this.#origins.of(tenant, origin);
    const { reserved } = of.slots;
    if (reserved >= this.#perOriginMax || !this.#hasShareOf("reserved", held, reserved))
      return false;
    addSlot(of, "reserved", 1);
    addOne("reserved", 1, this.#held, held);
    return true;
  }

  /** Its attempt gets a slot, or there is none: the insert has failed. */
  unreserve(tenant: TenantId, origin: number): void {
    addSlot(this.#origins.of(tenant, origin), "reserved", -1);
    addOne("reserved", -1, this.#held, this.#holders.ofTenant(tenant));
  }

  heldBy(tenant: TenantId): number {
    const { short, waiting } = this.#holders.ofTenant(tenant);
    return short + waiting;
  }

  /** Where the tenant's last call to it has gone. */
  addressOf(tenant: TenantId, origin: number): string | undefined {
    return this.#origins.known(tenant, origin)?.address;
  }

  get inUse(): { readonly short: number; readonly waiting: number } {
    return this.#held;
  }

  /** At an origin: a third more than one tenant may have is for all, and of that it has no more than its share. */
  #hasPlace(held: number, max: number, heldByOthers: number): boolean {
    return held < Math.min(max, this.#perOriginMax) && held < shareOf(this.#ofAllMax, heldByOthers);
  }

  #hasShare(kind: Kind, holder: Held): boolean {
    const max = this.#bounds[kind];
    const all = this.#held[kind];
    return all < max && holder[kind] < shareOf(max, all - holder[kind]);
  }

  /** The origin has no more than its share of what its tenant may have. */
  #hasShareOf(kind: Kind, holder: Held, heldByOrigin: number): boolean {
    const max = shareOf(this.#bounds[kind], this.#held[kind] - holder[kind]);
    return isInShare(heldByOrigin, max, holder[kind] - heldByOrigin);
  }

  #mayHold(kind: Kind, tenant: TenantId, { address, slots }: Origin): boolean {
    const ofOrigin = slots[kind];
    if (!this.#hasShareOf(kind, this.#holders.ofTenant(tenant), ofOrigin)) return false;
    if (address === undefined) return true;
    const known = this.#holders.atAddress(tenant, address);
    const atAddress = known.all[kind];
    const own = known.own[kind];
    const max = shareOf(this.#bounds[kind], this.#held[kind] - atAddress);
    if (atAddress >= max) return false;
    const ownMax = shareOf(max, atAddress - own);
    // Some of its calls may have gone to another address.
    return own < ownMax && isInShare(ofOrigin, ownMax, Math.max(0, own - ofOrigin));
  }

  #place(slot: Slot, tenant: TenantId, address: string): void {
    const { all, own } = this.#holders.atAddress(tenant, address);
    slot.address = all;
    slot.ownOfAddress = own;
    addOne(slot.kind, 1, all, own);
  }

  #count({ kind, origin, tenant, address, ownOfAddress }: Slot, n: 1 | -1): void {
    addOne(kind, n, this.#held, tenant);
    addSlot(origin, kind, n);
    if (address && ownOfAddress) addOne(kind, n, address, ownOfAddress);
  }
}

/** Rounds the share up: where slots are few, a part of a part would be none. */
const isInShare = (held: number, max: number, heldByOthers: number): boolean =>
  held < shareOf(Math.ceil(max), heldByOthers);

function addOne(kind: Kind, n: 1 | -1, one: Held, other: Held): void {
  one[kind] += n;
  other[kind] += n;
}
