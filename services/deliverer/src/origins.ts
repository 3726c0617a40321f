/** Counts each tenant's calls at each origin, and remembers their address. Owned by `Slots`. */
import { type TenantId } from "@posthaste/domain";
import { type Held, isNone, type Kind, noneHeld } from "./holders.ts";
import { Remembered } from "./remembered.ts";

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

/** Idle origins are kept, so that their addresses are known at the next call. */
const idleMax = 10_000;
const idlePerOriginMax = 16;

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
      idlePerOriginMax,
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
