/**
 * The lanes to be served, each once, tenants in turn. A tenant with a hundred thousand flow keys holds up another
 * tenant by one lane at most.
 */
import { type LaneId, tenantOfLane, RoundRobin } from "@posthaste/domain";

/** The lanes beyond this number are left to their alarms. */
const lanesMax = 100_000;

export class LanesInLine {
  readonly #byTenant = new RoundRobin<string, RoundRobin<LaneId, true>>();
  #size = 0;

  add(lane: LaneId): void {
    const tenant = tenantOfLane(lane);
    const known = this.#byTenant.get(tenant);
    if (this.#size >= lanesMax || known?.has(lane)) return;
    const lanes = known ?? new RoundRobin();
    lanes.put(lane, true);
    if (!known) this.#byTenant.put(tenant, lanes);
    this.#size += 1;
  }

  take(): LaneId | undefined {
    const next = this.#byTenant.take();
    if (!next) return undefined;
    const [tenant, lanes] = next;
    const [lane] = lanes.take() ?? [];
    if (lane === undefined) return undefined;
    this.#size -= 1;
    // Puts the tenant at the end of the line.
    if (lanes.size > 0) this.#byTenant.put(tenant, lanes);
    return lane;
  }

  clear(): void {
    this.#byTenant.clear();
    this.#size = 0;
  }
}
