/** The backlog quota (docs/design/wire#plans): looked up once a second and tenant, so a burst may pass it by a second's worth. */
import { beyondQuota, fault, type Fault } from "@posthaste/domain";
import { type Clock, type Records, type Tenant } from "@posthaste/ports";

const lookEveryMs = 1_000;
const tenantsKept = 10_000;

export class BacklogQuota {
  readonly #ports: { readonly records: Records; readonly clock: Clock };
  readonly #seen = new Map<string, { at: number; full: boolean }>();

  constructor(ports: { records: Records; clock: Clock }) {
    this.#ports = ports;
  }

  refuse(tenant: Tenant): Fault | undefined {
    const now = this.#ports.clock.now();
    const seen = this.#seen.get(tenant.id);
    if (seen && now - seen.at < lookEveryMs) return seen.full ? tooMany(tenant) : undefined;
    if (this.#seen.size >= tenantsKept) this.#seen.clear();
    const next = { at: now, full: seen?.full ?? false };
    this.#seen.set(tenant.id, next);
    void this.#look(tenant, next);
    return next.full ? tooMany(tenant) : undefined;
  }

  async #look(tenant: Tenant, seen: { full: boolean }): Promise<void> {
    // A store that cannot answer refuses the publish itself.
    const unfinished = await this.#ports.records.backlog(tenant.id).catch(() => 0);
    seen.full = unfinished >= tenant.plan.backlogMax;
  }
}

/** Not 412: it is over when some have been delivered. */
const tooMany = ({ plan }: Tenant): Fault =>
  fault("too_many_requests", beyondQuota("maxBacklog", plan.backlogMax).text);
