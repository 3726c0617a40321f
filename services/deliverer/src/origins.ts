/** What each tenant has at each origin: calls, and where they go. Owned by `Slots`. */
import { type TenantId } from "@posthaste/domain";
import { type Held, isNone, type Kind, noneHeld } from "./holders.ts";
import { Remembered } from "./remembered.ts";

/**
 * Of one tenant, since origins are told apart by a hash: a name that is made to have the hash of another tenant's destination
 * must speak for it neither with its address nor with its calls (ADR 70).
 */
export type Origin = {
  readonly ofAll: OfAll;
  /** Calls in their first minute. */
  held: number;
  /** All its slots, for as long as they are held. */
  readonly slots: Held;
  address: string | undefined;
  /** A call to it has told its address, or has ended without one. */
  isKnown: boolean;
};

/** Counts of all tenants. `slots`: of all kinds. */
type OfAll = { held: number; slots: number; readonly byTenant: Remembered<TenantId, Origin> };

/** Also without a call, or their address would be forgotten between two. */
const idleMax = 10_000;
const idlePerOriginMax = 16;

export class Origins {
  readonly #origins = new Remembered<number, OfAll>(idleMax, none, ({ slots }) => slots === 0);

  /** Undefined: there is none, or it was idle and is forgotten. */
  known(tenant: TenantId, origin: number): Origin | undefined {
    return this.#origins.known(origin)?.byTenant.known(tenant);
  }

  of(tenant: TenantId, origin: number): Origin {
    return this.#origins.of(origin).byTenant.of(tenant);
  }

  /** Calls of all tenants. */
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
