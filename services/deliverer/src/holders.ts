/** Counts the slots of each tenant, of each address, and of each tenant at each address. Owned by `Slots`. */
import { type TenantId } from "@posthaste/domain";
import { Remembered } from "./remembered.ts";

export type Kind = "short" | "waiting" | "reserved";
export type Held = Record<Kind, number>;

export const noneHeld = (): Held => ({ short: 0, waiting: 0, reserved: 0 });
export const isNone = ({ short, waiting, reserved }: Held): boolean =>
  short + waiting + reserved === 0;

const idleMax = 10_000;
const idlePerAddressMax = 16;

type AtAddress = { readonly all: Held; readonly byTenant: Remembered<TenantId, Held> };

export class Holders {
  readonly #tenants = new Remembered<TenantId, Held>(idleMax, noneHeld, isNone);
  readonly #addresses = new Remembered<string, AtAddress>(
    idleMax,
    () => ({
      all: noneHeld(),
      byTenant: new Remembered<TenantId, Held>(idlePerAddressMax, noneHeld, isNone),
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
