/**
 * The backlog quota (docs/design/wire#plans), looked up once a second per tenant, so that a burst may exceed it by a
 * second's worth. While a count is late, the messages accepted here since it began are added to it, so that the quota
 * holds however long counting takes.
 */
import { beyondQuota, fault, type Fault, RoundRobin } from "@posthaste/domain";
import { type Clock, type Records, type Tenant } from "@posthaste/ports";

const lookEveryMs = 1_000;
/** The age, in milliseconds, up to which a count is used alone: most messages accepted since have been delivered. */
const lateMs = 2 * lookEveryMs;
/** The number of tenants kept; beyond it the tenant seen first is forgotten. */
const tenantsKept = 10_000;

type Seen = {
  /** The last count; 0 before the first one. */
  unfinished: number;
  /** The time, by `passedMs`, at which that count began; before the first count, the time of the first publish. */
  countedAt: number;
  /** The number of messages accepted here since then. */
  since: number;
  lookedAt: number;
  isLooking: boolean;
};

export class BacklogQuota {
  readonly #ports: {
    readonly records: Pick<Records, "backlog">;
    readonly clock: Pick<Clock, "passedMs">;
  };
  readonly #seen = new RoundRobin<string, Seen>();

  constructor(ports: {
    readonly records: Pick<Records, "backlog">;
    readonly clock: Pick<Clock, "passedMs">;
  }) {
    this.#ports = ports;
  }

  /** Returns undefined if one message may be accepted, and counts it. */
  refuse(tenant: Tenant): Fault | undefined {
    const passedMs = this.#ports.clock.passedMs();
    const seen = this.#seenOf(tenant, passedMs);
    if (!seen.isLooking && passedMs - seen.lookedAt >= lookEveryMs)
      void this.#look(tenant, seen, passedMs);
    const unseen = passedMs - seen.countedAt > lateMs ? seen.since : 0;
    if (seen.unfinished + unseen >= tenant.plan.backlogMax) return tooMany(tenant);
    seen.since += 1;
    return undefined;
  }

  /** Counts `n` more messages of an accepted publish. */
  add(tenant: Tenant, n: number): void {
    const seen = this.#seen.get(tenant.id);
    if (seen) seen.since += n;
  }

  #seenOf({ id }: Tenant, passedMs: number): Seen {
    const known = this.#seen.get(id);
    if (known) return known;
    if (this.#seen.size >= tenantsKept) this.#seen.take();
    const seen: Seen = {
      unfinished: 0,
      countedAt: passedMs,
      since: 0,
      lookedAt: Number.NEGATIVE_INFINITY,
      isLooking: false,
    };
    this.#seen.put(id, seen);
    return seen;
  }

  /** Counts the backlog. When the store cannot answer, it refuses the publish itself. */
  async #look(tenant: Tenant, seen: Seen, passedMs: number): Promise<void> {
    const { since } = seen;
    seen.lookedAt = passedMs;
    seen.isLooking = true;
    try {
      seen.unfinished = await this.#ports.records.backlog(tenant.id);
      seen.countedAt = passedMs;
      seen.since -= since;
    } catch {
      // The last count stays, with the messages accepted since.
    } finally {
      seen.isLooking = false;
    }
  }
}

/** Not 412: the fault ends when some messages have been delivered. */
const tooMany = ({ plan }: Tenant): Fault =>
  fault("too_many_requests", beyondQuota("maxBacklog", plan.backlogMax).text);
