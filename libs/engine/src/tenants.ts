/** Tenants as the services see them: a copy that is at most five seconds old (a revoked token dies within that time). */
import { type TenantId } from "@posthaste/domain";
import { type Accounts, type Clock, type Log, type Tenant, untilAvailable } from "@posthaste/ports";

const refreshEveryMs = 4_000;
/** However many are asked for that are not there. */
const findEveryMs = 500;

export class Tenants {
  readonly name = "tenants";
  readonly #ports: { readonly accounts: Accounts; readonly clock: Clock; readonly log: Log };
  #byId: ReadonlyMap<TenantId, Tenant> = new Map();
  #timer: (() => void) | undefined;
  #stopped = false;
  #found: Promise<void> = Promise.resolve();
  #findAt = Number.NEGATIVE_INFINITY;

  constructor(ports: { accounts: Accounts; clock: Clock; log: Log }) {
    this.#ports = ports;
  }

  get(id: TenantId): Tenant | undefined {
    return this.#byId.get(id);
  }

  /** One that is not known may be new: reads them now, unless that was done half a second ago. Rejects when the store does. */
  async find(id: TenantId): Promise<Tenant | undefined> {
    const known = this.get(id);
    if (known) return known;
    const now = this.#ports.clock.passedMs();
    if (now >= this.#findAt) {
      this.#findAt = now + findEveryMs;
      this.#found = this.refresh();
    }
    await this.#found;
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

  /** Reads them now: after a change in this process it holds at once. */
  async refresh(): Promise<void> {
    const tenants = await this.#ports.accounts.tenants();
    this.#byId = new Map(tenants.map((tenant) => [tenant.id, tenant]));
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
