/**
 * A copy of the tenants for the services, at most five seconds old, so that a revoked token stops working within that
 * time. A refresh reads only the changed tenants.
 */
import { type TenantId } from "@posthaste/domain";
import {
  type AccountChanges,
  type AccountFollower,
  type Accounts,
  type Clock,
  followAccounts,
  type Log,
  type Tenant,
  tenantPages,
  untilAvailable,
} from "@posthaste/ports";

const refreshEveryMs = 4_000;
/** The interval within which a missing tenant is looked up once, however often it is used. */
const findEveryMs = 500;

type TenantReads = Pick<Accounts, "changedSince" | "tenant" | "tenantPage">;
type TenantsPorts = { readonly accounts: TenantReads; readonly clock: Clock; readonly log: Log };

export class Tenants {
  readonly name = "tenants";
  readonly #ports: TenantsPorts;
  readonly #follower: AccountFollower;
  #byId = new Map<TenantId, Tenant>();
  #timer: (() => void) | undefined;
  #stopped = false;
  /** The lookups of the last half second; at most one for each tenant that has sent something. */
  #looks = new Map<TenantId, Promise<void>>();
  #forgetAt = Number.NEGATIVE_INFINITY;

  constructor(ports: TenantsPorts) {
    this.#ports = ports;
    this.#follower = followAccounts(ports.accounts, (tenants) => this.#read(tenants));
  }

  get(id: TenantId): Tenant | undefined {
    return this.#byId.get(id);
  }

  /**
   * Returns a tenant. Reads a tenant that is not known and may be new, unless that was done within the last half
   * second. Rejects when the store does.
   */
  async find(id: TenantId): Promise<Tenant | undefined> {
    const known = this.get(id);
    if (known) return known;
    const now = this.#ports.clock.passedMs();
    if (now >= this.#forgetAt) {
      this.#forgetAt = now + findEveryMs;
      this.#looks = new Map();
    }
    const look = this.#looks.get(id) ?? this.#follower.look(id);
    this.#looks.set(id, look);
    await look;
    return this.get(id);
  }

  ids(): readonly TenantId[] {
    return [...this.#byId.keys()];
  }

  async start(): Promise<void> {
    await untilAvailable(
      this.#ports.clock,
      () => this.refresh(),
      () => this.#stopped,
    );
    this.#arm();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.();
  }

  /** Reads the changes now, so that a change of this process applies at once. */
  refresh(): Promise<void> {
    return this.#follower.refresh();
  }

  async #read(ids: AccountChanges["tenants"]): Promise<void> {
    const { accounts } = this.#ports;
    if (ids === "all") {
      const all = new Map<TenantId, Tenant>();
      for await (const page of tenantPages(accounts))
        for (const tenant of page) all.set(tenant.id, tenant);
      this.#byId = all;
      return;
    }
    for (const tenant of await Promise.all(ids.map((id) => accounts.tenant(id))))
      if (tenant) this.#byId.set(tenant.id, tenant);
  }

  #arm(): void {
    if (this.#stopped) return;
    this.#timer = this.#ports.clock.after(refreshEveryMs, () => {
      this.refresh()
        .catch((error: unknown) => this.#ports.log.warn("tenants.stale", { error }))
        .finally(() => this.#arm());
    });
  }
}
