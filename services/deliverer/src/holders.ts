/**
 * Counts the slots of each tenant, of each address, of each tenant at each address, and of each tenant at each origin, whose address it
 * remembers. Owned by `Slots`.
 */
import { type TenantId } from "@posthaste/domain";
import { Remembered } from "./remembered.ts";

export type Kind = "short" | "waiting" | "reserved";
export type Held = Record<Kind, number>;

export const noneHeld = (): Held => ({ short: 0, waiting: 0, reserved: 0 });
const isNone = ({ short, waiting, reserved }: Held): boolean => short + waiting + reserved === 0;

/** Idle counts are kept, and with those of an origin its address, which its next call needs. */
const idleMax = 10_000;
/** Bounds the idle tenants that are remembered at one address or origin. */
const idleTenantsMax = 16;

type AtAddress = { readonly all: Held; readonly byTenant: Remembered<TenantId, Held> };

export class Holders {
  readonly #tenants = new Remembered<TenantId, Held>(idleMax, noneHeld, isNone);
  readonly #addresses = new Remembered<string, AtAddress>(
    idleMax,
    () => ({
      all: noneHeld(),
      byTenant: new Remembered<TenantId, Held>(idleTenantsMax, noneHeld, isNone),
    }),
    ({ all }) => isNone(all),
  );

  ofTenant(tenant: TenantId): Held {
    return this.#tenants.of(tenant);
  }

  atAddress(tenant: TenantId, address: string): { readonly all: Held; readonly own: Held } {
    const { all, byTenant } = this.#addresses.of(address);
    return { all, own: byTenant.of(tenant) };
  }
}

/**
 * An origin of one tenant. Origins are told apart by a hash, so tenants share nothing here: a host name made to collide with the hash of
 * another tenant's destination must change neither its address nor its counts (ADR 70).
 */
export type Origin = {
  readonly ofAll: OfAll;
  /** The number of calls in their first minute. */
  held: number;
  /** The slots held, of each kind. */
  readonly slots: Held;
  address: string | undefined;
  /** Whether a call has told the address, or has ended without one. */
  isKnown: boolean;
};

/** The counts of all tenants at an origin. `slots` counts all kinds. */
type OfAll = { held: number; slots: number; readonly byTenant: Remembered<TenantId, Origin> };

export class Origins {
  readonly #origins = new Remembered<number, OfAll>(idleMax, none, ({ slots }) => slots === 0);

  /** Returns undefined for an origin that was never used or is forgotten. */
  known(tenant: TenantId, origin: number): Origin | undefined {
    return this.#origins.known(origin)?.byTenant.known(tenant);
  }

  of(tenant: TenantId, origin: number): Origin {
    return this.#origins.of(origin).byTenant.of(tenant);
  }

  /** Returns the number of calls of all tenants in their first minute. */
  held(origin: number): number {
    return this.#origins.known(origin)?.held ?? 0;
  }
}

function none(): OfAll {
  const ofAll: OfAll = {
    held: 0,
    slots: 0,
    byTenant: new Remembered<TenantId, Origin>(
      idleTenantsMax,
      () => ({ ofAll, held: 0, slots: noneHeld(), address: undefined, isKnown: false }),
      ({ slots }) => isNone(slots),
    ),
  };
  return ofAll;
}

export function addHeld(origin: Origin, n: 1 | -1): void {
  origin.held += n;
  origin.ofAll.held += n;
}

export function addSlot(origin: Origin, kind: Kind, n: 1 | -1): void {
  origin.slots[kind] += n;
  origin.ofAll.slots += n;
}
