/**
 * Deliverers of other processes, named by the roster: a message is claimed for one of them by its insert, and that one hears
 * of it by a hint that has the record.
 *
 * (1) Named is only what the roster has as fresh and open. A roster that cannot be read, or was read too long ago, names none.
 * (2) A hint that is lost costs the lease of the insert; then any deliverer may claim.
 */
import {
  type InState,
  limits,
  limitOf,
  type Message,
  type Owner,
  type Plan,
  type TenantId,
} from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  type Log,
  type Metrics,
  type NamedDelivery,
  type Roster,
  type RosterEntry,
  type Service,
} from "@posthaste/ports";
import { hintOf } from "./announce.ts";

export type NamedDeliveryPorts = {
  readonly roster: Pick<Roster, "read">;
  readonly bus: Pick<EventBus, "publish" | "isUp">;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** A tenant whose calls are capped is not named for: its calls are counted before they are claimed. */
  readonly planOf: (tenant: TenantId) => Plan | undefined;
};

const readEveryMs = 500;
/** A gateway that inserts nothing reads nothing. */
const readAfterUseMs = 10_000;

export class NamedDeliverers implements NamedDelivery, Service {
  readonly name = "roster";
  readonly #ports: NamedDeliveryPorts;
  #open: readonly RosterEntry[] = [];
  #partitions: ReadonlyMap<Owner, readonly number[]> = new Map();
  #readAt = Number.NEGATIVE_INFINITY;
  #usedAt = Number.NEGATIVE_INFINITY;
  #isReading = false;
  #next = 0;
  #cancel: (() => void) | undefined;
  #isStopped = false;

  constructor(ports: NamedDeliveryPorts) {
    this.#ports = ports;
    ports.metrics.watch("posthaste_roster_age_seconds", () => {
      if (!this.#isReading) return 0;
      return Number.isFinite(this.#readAt) ? this.#ageMs / 1_000 : undefined;
    });
  }

  /** It does not wait: without a roster messages go the other way. */
  async start(): Promise<void> {
    this.#usedAt = this.#ports.clock.now();
    void this.#read();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#cancel?.();
  }

  ownerFor({ tenant }: Message): Owner | undefined {
    const { bus, clock, planOf } = this.#ports;
    this.#usedAt = clock.now();
    if (!this.#isReading) void this.#read();
    if (this.#open.length === 0 || this.#ageMs > limits.rosterFreshMs || !bus.isUp())
      return undefined;
    const plan = planOf(tenant);
    if (!plan || limitOf(plan, "parallelismMax") !== undefined) return undefined;
    return this.#open[this.#next++ % this.#open.length]?.owner;
  }

  tell(record: InState<"claimed">): void {
    const partitions = this.#partitions.get(record.state.owner) ?? [];
    const to = partitions[this.#next % partitions.length];
    const hint = { ...hintOf(record), record, ...(to !== undefined && { to }) };
    this.#ports.bus.publish("message.due", [hint]).catch(() => undefined);
  }

  get #ageMs(): number {
    return this.#ports.clock.now() - this.#readAt;
  }

  async #read(): Promise<void> {
    const { clock, log, roster } = this.#ports;
    this.#isReading = true;
    const askedAt = clock.now();
    try {
      const entries = await roster.read();
      this.#open = entries.filter(({ isOpen, partitions }) => isOpen && partitions.length > 0);
      // Also of those that are closed by now: what was inserted for them a moment ago is still to be told.
      this.#partitions = new Map(entries.map(({ owner, partitions }) => [owner, partitions]));
      this.#readAt = askedAt;
    } catch (error) {
      log.debug("roster.unread", { error });
    }
    this.#isReading = !this.#isStopped && clock.now() - this.#usedAt < readAfterUseMs;
    if (this.#isReading) this.#cancel = clock.after(readEveryMs, () => void this.#read());
  }
}
