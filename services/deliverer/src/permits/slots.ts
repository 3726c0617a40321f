/**
 * Slots: the right to have a request on the wire. Owned by the deliverer.
 *
 * (1) A slow call holds up no other call: it has a short slot for its first second, and then moves to a waiting slot
 *     if it may have one (ADR 15).
 * (2) A tenant, an address, and a tenant at an address each have at most their share of both kinds, out of the slots
 *     that the rest leave. An origin has at most its share of its tenant's slots, in all and at the address (ADR
 *     145). While the address of an origin is unknown, its calls are few and count for the tenant alone.
 * (3) A call counts for its origin during its first minute, with either kind of slot: that bound protects the
 *     destination. The bound holds for each tenant, and all tenants together have a third more, so that no tenant
 *     shuts out the rest (ADR 70).
 * (4) A place in line lasts from before an insert until its call begins, and then becomes its slot. An insert takes
 *     about as long as a call, so places have bounds of their own: each tenant and each of its origins has a share of
 *     as many as there are short slots.
 */
import { shareOf, type TenantId, wholeOf } from "@posthaste/domain";
import { Remembered } from "./remembered.ts";

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

/** Divides `callsMax` sockets between short and waiting slots. Where sockets are few, half are short. */
export function slotBounds(config: SlotConfig, callsMax: number): SlotBounds {
  const shortMax = Math.max(1, Math.min(config.maxInFlight, Math.ceil(callsMax / 2)));
  const waitingMax = Math.max(0, Math.min(config.maxWaiting, callsMax - shortMax));
  return { shortMax, perOriginMax: config.maxPerOrigin, waitingMax };
}

export type Slot = {
  readonly tenant: TenantId;
  readonly origin: OriginCounts;
  /** The counts that include the slot; those of its address only once that is known. */
  readonly counts: SlotCounts[];
  isLocated: boolean;
  /** `reserved`: a place in line, until the call begins. */
  kind: SlotKind;
  countsForOrigin: boolean;
};

/** The calls at once to an origin of unknown address. They are few, since a tenant may have a thousand names for one server. */
const unknownMax = 4;

export class Slots {
  readonly #bounds: Readonly<Record<SlotKind, number>>;
  readonly #perOriginMax: number;
  /** The calls of all tenants at one origin, at most. */
  readonly #ofAllMax: number;
  readonly #held = noSlots();
  readonly #tenants = countsByTenant();
  readonly #addresses = countsByAddress();
  readonly #origins = countsByOrigin();

  constructor({ shortMax, waitingMax, perOriginMax }: SlotBounds) {
    this.#bounds = { short: shortMax, waiting: waitingMax, reserved: shortMax };
    this.#perOriginMax = perOriginMax;
    this.#ofAllMax = wholeOf(perOriginMax);
  }

  get anyFree(): boolean {
    return this.#held.short < this.#bounds.short;
  }

  /** Reports whether the tenant may have a slot, whatever the origin. */
  isFreeFor(tenant: TenantId): boolean {
    return this.#hasShare("short", this.#tenants.of(tenant));
  }

  isFree(tenant: TenantId, origin: number): boolean {
    const holder = this.#tenants.of(tenant);
    if (!this.#hasShare("short", holder)) return false;
    const ofAll = this.#origins.known(origin);
    const known = ofAll?.byTenant.known(tenant);
    if (known === undefined) return this.#hasPlace(0, unknownMax, ofAll?.held ?? 0);
    const { held, isKnown } = known;
    const max = isKnown ? this.#perOriginMax : unknownMax;
    return (
      this.#hasPlace(held, max, known.ofAll.held - held) &&
      this.#mayHold("short", tenant, holder, known)
    );
  }

  take(tenant: TenantId, origin: number): Slot {
    const own = this.#origins.of(origin).byTenant.of(tenant);
    const slot = this.#open(tenant, this.#tenants.of(tenant), own);
    this.begin(slot);
    return slot;
  }

  /** Turns a place in line into a short slot. */
  begin(slot: Slot): void {
    const { origin } = slot;
    this.#turn(slot, "short");
    addHeld(origin, 1);
    slot.countsForOrigin = true;
    if (origin.address !== undefined) this.#place(slot, origin.address);
  }

  free(slot: Slot): void {
    this.#count(slot, -1);
    this.leaveOrigin(slot);
  }

  /** Counts the slot for the address that its call goes to. */
  locate(slot: Slot, address: string): void {
    slot.origin.address = address;
    slot.origin.isKnown = true;
    if (!slot.isLocated) this.#place(slot, address);
  }

  /** Remembers the address of an ended call; undefined when no address was reached. */
  ended({ origin }: Slot, address: string | undefined): void {
    origin.address = address ?? origin.address;
    origin.isKnown = true;
  }

  /** Turns a short slot into a waiting one. Returns false when waiting calls hold their share already. */
  leaveShort(slot: Slot): boolean {
    const { origin, tenant } = slot;
    const holder = this.#tenants.of(tenant);
    if (!this.#hasShare("waiting", holder)) return false;
    if (!this.#mayHold("waiting", tenant, holder, origin)) return false;
    this.#turn(slot, "waiting");
    return true;
  }

  /** Counts a long call no longer for its origin. */
  leaveOrigin(slot: Slot): void {
    if (!slot.countsForOrigin) return;
    slot.countsForOrigin = false;
    addHeld(slot.origin, -1);
  }

  /** Takes a place in line. Returns undefined when the tenant or the origin has its share of places. */
  reserve(tenant: TenantId, origin: number): Slot | undefined {
    const held = this.#tenants.of(tenant);
    if (!this.#hasShare("reserved", held)) return undefined;
    const of = this.#origins.of(origin).byTenant.of(tenant);
    const { reserved } = of.slots;
    const mayReserve =
      reserved < this.#perOriginMax && this.#hasShareOf("reserved", held, reserved);
    return mayReserve ? this.#open(tenant, held, of) : undefined;
  }

  heldBy(tenant: TenantId): number {
    const { short, waiting } = this.#tenants.of(tenant);
    return short + waiting;
  }

  /** Returns the address that the last call of the tenant to the origin went to. */
  addressOf(tenant: TenantId, origin: number): string | undefined {
    return this.#origins.known(origin)?.byTenant.known(tenant)?.address;
  }

  get inUse(): { readonly short: number; readonly waiting: number } {
    return this.#held;
  }

  /** Reports whether a tenant may have another call at an origin: below its own bound, and below its share of the bound of all tenants. */
  #hasPlace(held: number, max: number, heldByOthers: number): boolean {
    return held < Math.min(max, this.#perOriginMax) && held < shareOf(this.#ofAllMax, heldByOthers);
  }

  #hasShare(kind: SlotKind, holder: SlotCounts): boolean {
    const max = this.#bounds[kind];
    const all = this.#held[kind];
    return all < max && holder[kind] < shareOf(max, all - holder[kind]);
  }

  /** Reports whether an origin holds less than its share of what its tenant may have. */
  #hasShareOf(kind: SlotKind, holder: SlotCounts, heldByOrigin: number): boolean {
    const max = shareOf(this.#bounds[kind], this.#held[kind] - holder[kind]);
    return isInShare(heldByOrigin, max, holder[kind] - heldByOrigin);
  }

  #mayHold(
    kind: SlotKind,
    tenant: TenantId,
    holder: SlotCounts,
    { address, slots }: OriginCounts,
  ): boolean {
    const ofOrigin = slots[kind];
    if (!this.#hasShareOf(kind, holder, ofOrigin)) return false;
    if (address === undefined) return true;
    const { all, byTenant } = this.#addresses.of(address);
    const atAddress = all[kind];
    const own = byTenant.of(tenant)[kind];
    const max = shareOf(this.#bounds[kind], this.#held[kind] - atAddress);
    if (atAddress >= max) return false;
    const ownMax = shareOf(max, atAddress - own);
    // Some of the origin's calls may have gone to another address.
    return own < ownMax && isInShare(ofOrigin, ownMax, Math.max(0, own - ofOrigin));
  }

  #open(tenant: TenantId, holder: SlotCounts, origin: OriginCounts): Slot {
    const slot: Slot = {
      tenant,
      origin,
      counts: [this.#held, holder, origin.slots, origin.ofAll.slots],
      isLocated: false,
      kind: "reserved",
      countsForOrigin: false,
    };
    this.#count(slot, 1);
    return slot;
  }

  #turn(slot: Slot, kind: SlotKind): void {
    this.#count(slot, -1);
    slot.kind = kind;
    this.#count(slot, 1);
  }

  #place(slot: Slot, address: string): void {
    const { all, byTenant } = this.#addresses.of(address);
    for (const held of [all, byTenant.of(slot.tenant)]) {
      held[slot.kind] += 1;
      slot.counts.push(held);
    }
    slot.isLocated = true;
  }

  #count({ counts, kind }: Slot, n: 1 | -1): void {
    for (const held of counts) held[kind] += n;
  }
}

/** Compares with a share that is rounded up: where slots are few, a share of a share would be none. */
const isInShare = (held: number, max: number, heldByOthers: number): boolean =>
  held < shareOf(Math.ceil(max), heldByOthers);

type SlotKind = "short" | "waiting" | "reserved";
type SlotCounts = Record<SlotKind, number>;

const noSlots = (): SlotCounts => ({ short: 0, waiting: 0, reserved: 0 });
const isNone = ({ short, waiting, reserved }: SlotCounts): boolean =>
  short + waiting + reserved === 0;

/** How many idle counts are kept. With the counts of an origin its address is kept, which the next call needs. */
const idleMax = 10_000;
/** Bounds the idle tenants that are remembered at one address or origin. */
const idleTenantsMax = 16;

const countsByTenant = (max = idleMax): Remembered<TenantId, SlotCounts> =>
  new Remembered(max, noSlots, isNone);

type AtAddress = { readonly all: SlotCounts; readonly byTenant: Remembered<TenantId, SlotCounts> };

const countsByAddress = (): Remembered<string, AtAddress> =>
  new Remembered(
    idleMax,
    () => ({ all: noSlots(), byTenant: countsByTenant(idleTenantsMax) }),
    ({ all }) => isNone(all),
  );

/**
 * The counts of one tenant at an origin. Origins are told apart by a hash, so tenants share nothing here: a host name
 * made to collide with the hash of another tenant's destination must change neither its address nor its counts (ADR
 * 70).
 */
type OriginCounts = {
  readonly ofAll: OfAll;
  /** The number of calls in their first minute. */
  held: number;
  /** The slots held, of each kind. */
  readonly slots: SlotCounts;
  address: string | undefined;
  /** Whether a call has reported the address, or has ended without one. */
  isKnown: boolean;
};

/** The counts of all tenants at an origin. */
type OfAll = {
  held: number;
  readonly slots: SlotCounts;
  readonly byTenant: Remembered<TenantId, OriginCounts>;
};

const countsByOrigin = (): Remembered<number, OfAll> =>
  new Remembered(idleMax, none, ({ slots }) => isNone(slots));

function none(): OfAll {
  const ofAll: OfAll = {
    held: 0,
    slots: noSlots(),
    byTenant: new Remembered<TenantId, OriginCounts>(
      idleTenantsMax,
      () => ({ ofAll, held: 0, slots: noSlots(), address: undefined, isKnown: false }),
      ({ slots }) => isNone(slots),
    ),
  };
  return ofAll;
}

function addHeld(origin: OriginCounts, n: 1 | -1): void {
  origin.held += n;
  origin.ofAll.held += n;
}
