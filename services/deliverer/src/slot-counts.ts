/**
 * Counts the slots of each tenant, of each address, of each tenant at each address, and of each tenant at each origin, whose address it
 * remembers. Owned by `Slots`.
 */
import { type TenantId } from "@posthaste/domain";
import { Remembered } from "./remembered.ts";

export type SlotKind = "short" | "waiting" | "reserved";
export type SlotCounts = Record<SlotKind, number>;

export const noSlots = (): SlotCounts => ({ short: 0, waiting: 0, reserved: 0 });
const isNone = ({ short, waiting, reserved }: SlotCounts): boolean =>
  short + waiting + reserved === 0;

/** How many idle counts are kept. With the counts of an origin its address is kept, which the next call needs. */
const idleMax = 10_000;
/** Bounds the idle tenants that are remembered at one address or origin. */
const idleTenantsMax = 16;

export const countsByTenant = (max = idleMax): Remembered<TenantId, SlotCounts> =>
  new Remembered(max, noSlots, isNone);

type AtAddress = { readonly all: SlotCounts; readonly byTenant: Remembered<TenantId, SlotCounts> };

export const countsByAddress = (): Remembered<string, AtAddress> =>
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
export type OriginCounts = {
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

export const countsByOrigin = (): Remembered<number, OfAll> =>
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

export function addHeld(origin: OriginCounts, n: 1 | -1): void {
  origin.held += n;
  origin.ofAll.held += n;
}
