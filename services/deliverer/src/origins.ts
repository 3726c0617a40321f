/** What each tenant has at each origin: calls, and where they go. Owned by `Slots`. */
import { type TenantId } from "@posthaste/domain";
import { Remembered } from "./remembered.ts";

/**
 * Of one tenant, since origins are told apart by a hash: a name that is made to have the hash of another tenant's destination
 * must speak for it neither with its address nor with its calls (ADR 70).
 */
export type Origin = {
  readonly ofAll: OfAll;
  held: number;
  reserved: number;
  address: string | undefined;
  /** A call to it has told its address, or has ended without one. */
  isKnown: boolean;
};

/** Of all tenants. */
type OfAll = { held: number; reserved: number; readonly byTenant: Remembered<TenantId, Origin> };

/** Also without a call, or their address would be forgotten between two. */
const idleMax = 10_000;
const idlePerOriginMax = 16;

type Counts = Pick<OfAll, "held" | "reserved">;
const isIdle = ({ held, reserved }: Counts): boolean => held + reserved === 0;

export class Origins {
  readonly #origins = new Remembered<number, OfAll>(idleMax, none, isIdle);

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
    reserved: 0,
    byTenant: new Remembered<TenantId, Origin>(
      idlePerOriginMax,
      () => ({ ofAll, held: 0, reserved: 0, address: undefined, isKnown: false }),
      isIdle,
    ),
  };
  return ofAll;
}

export function addHeld(origin: Origin, n: 1 | -1): void {
  origin.held += n;
  origin.ofAll.held += n;
}

export function addReserved(origin: Origin, n: 1 | -1): void {
  origin.reserved += n;
  origin.ofAll.reserved += n;
}
