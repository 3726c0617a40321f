/**
 * The backlog quota (docs/design/wire#plans): looked up once a second and tenant, so a burst may pass it by a second's worth.
 * While a count is late, what came in here since it began is added to it: the quota holds however long counting takes.
 */
import { beyondQuota, fault, type Fault, Turns } from "@posthaste/domain";
import { type Clock, type Records, type Tenant } from "@posthaste/ports";

const lookEveryMs = 1_000;
/** A count that is no older stands for itself: most of what came in since has been delivered. */
const lateMs = 2 * lookEveryMs;
/** Beyond them the tenant that was met first is met anew. */
const tenantsKept = 10_000;

type Seen = {
  /** As last counted; nothing before the first count. */
  unfinished: number;
  /** When that count began; at the first publish, before there is any. */
  countedAt: number;
  /** Messages that came in here since then. */
  since: number;
  lookedAt: number;
  isLooking: boolean;
};

export class BacklogQuota {
  readonly #ports: {
    readonly records: Pick<Records, "backlog">;
    readonly clock: Pick<Clock, "passedMs">;
  };
  readonly #seen = new Turns<string, Seen>();

  constructor(ports: {
    readonly records: Pick<Records, "backlog">;
    readonly clock: Pick<Clock, "passedMs">;
  }) {
    this.#ports = ports;
  }

  /** Undefined: one message may come in, and is counted. */
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

  /** A publish that was let in brings so many messages more. */
  cameIn(tenant: Tenant, n: number): void {
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

  /** A store that cannot answer refuses the publish itself. */
  async #look(tenant: Tenant, seen: Seen, passedMs: number): Promise<void> {
    const { since } = seen;
    seen.lookedAt = passedMs;
    seen.isLooking = true;
    try {
      seen.unfinished = await this.#ports.records.backlog(tenant.id);
      seen.countedAt = passedMs;
      seen.since -= since;
    } catch {
      // The last count stands, with what has come in since.
    } finally {
      seen.isLooking = false;
    }
  }
}

/** Not 412: it is over when some have been delivered. */
const tooMany = ({ plan }: Tenant): Fault =>
  fault("too_many_requests", beyondQuota("maxBacklog", plan.backlogMax).text);
