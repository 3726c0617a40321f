/**
 * Lanes that are to be served, each once, tenant by tenant in turn: one with a hundred thousand flow keys holds up the next
 * for one of them.
 */
import { type LaneId, tenantOfLane, Turns } from "@posthaste/domain";

/** What comes beyond it is left to its lane's alarm. */
const lanesMax = 100_000;

export class LanesInLine {
  readonly #byTenant = new Turns<string, Turns<LaneId, true>>();
  #size = 0;

  add(lane: LaneId): void {
    const tenant = tenantOfLane(lane);
    const known = this.#byTenant.get(tenant);
    if (this.#size >= lanesMax || known?.has(lane)) return;
    const lanes = known ?? new Turns();
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
    // Behind all other tenants.
    if (lanes.size > 0) this.#byTenant.put(tenant, lanes);
    return lane;
  }

  clear(): void {
    this.#byTenant.clear();
    this.#size = 0;
  }
}
