/**
 * Lanes that are to be served, each once, tenant by tenant in turn: one with a hundred thousand flow keys holds up the next
 * for one of them.
 */
import { type LaneId, tenantOfLane } from "@posthaste/domain";

/** What comes beyond it is left to its lane's alarm. */
const lanesMax = 100_000;

export class LanesInLine {
  readonly #byTenant = new Map<string, Set<LaneId>>();
  #size = 0;

  add(lane: LaneId): void {
    const tenant = tenantOfLane(lane);
    const lanes = this.#byTenant.get(tenant) ?? new Set();
    if (this.#size >= lanesMax || lanes.has(lane)) return;
    this.#byTenant.set(tenant, lanes.add(lane));
    this.#size += 1;
  }

  take(): LaneId | undefined {
    const [next] = this.#byTenant;
    if (!next) return undefined;
    const [tenant, lanes] = next;
    const [lane] = lanes;
    this.#byTenant.delete(tenant);
    if (lane === undefined) return undefined;
    lanes.delete(lane);
    this.#size -= 1;
    // Behind all other tenants.
    if (lanes.size > 0) this.#byTenant.set(tenant, lanes);
    return lane;
  }

  clear(): void {
    this.#byTenant.clear();
    this.#size = 0;
  }
}
