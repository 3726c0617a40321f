/**
 * Messages that their insert has claimed for a deliverer that it named: this one, if its roster entry was read.
 *
 * (1) A hint that is heard twice runs once: what was taken is remembered until its first lease is over.
 * (2) One that names another, since a partition has moved, or whose lease is nearly over, is left alone until that lease has
 *     ended; then it is a hint like any other, to be claimed.
 * (3) Leaving the roster comes before the end of the subscription: what is named until then is still heard here.
 */
import { type InState, limits, type MessageId, type Owner } from "@posthaste/domain";
import {
  type Clock,
  type Hint,
  type Log,
  pause,
  type Roster,
  type Telemetry,
} from "@posthaste/ports";

export type NamedPorts = {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent where insert and delivery are one process. */
  readonly roster?: Pick<Roster, "announce" | "leave">;
};

export type NamedOptions = {
  readonly owner: Owner;
  readonly metrics: Telemetry["metrics"];
  readonly isOpen: () => boolean;
  readonly isRunning: (id: MessageId) => boolean;
  readonly take: (record: InState<"claimed">) => void;
  /** To be claimed. */
  readonly due: (hints: readonly Hint[]) => void;
};

/** How long gateways may go on to name one that has left: they read twice a second. */
const namedAfterLeavingMs = 700;
const rememberedMax = 200_000;
const waitingMax = 20_000;

export class Named {
  readonly #ports: NamedPorts;
  readonly #options: NamedOptions;
  /** Until the end of their first lease, in that order. */
  readonly #taken = new Map<MessageId, number>();
  #partitions: readonly number[] = [];
  #cancel: (() => void) | undefined;
  #wasOpen = true;
  /** How to call off what waits for the end of a lease that is not this deliverer's. */
  readonly #later = new Set<() => void>();
  #hasLeft = false;

  constructor(ports: NamedPorts, options: NamedOptions) {
    this.#ports = ports;
    this.#options = options;
  }

  start(): void {
    this.#announceNow();
  }

  assigned(partitions: readonly number[]): void {
    this.#partitions = partitions;
    this.#announceNow();
  }

  /** What is in hand has grown or shrunk: gateways hear at once of a door that has closed. */
  looked(): void {
    if (this.#wasOpen && !this.#options.isOpen()) this.#announceNow();
  }

  async leave(): Promise<void> {
    const { clock, log, roster } = this.#ports;
    this.#hasLeft = true;
    this.#cancel?.();
    for (const callOff of this.#later) callOff();
    this.#later.clear();
    if (!roster) return;
    await roster
      .leave(this.#options.owner)
      .catch((error: unknown) => log.debug("roster.kept", { error }));
    await pause(clock, namedAfterLeavingMs);
  }

  /** Takes those that are named, and answers the rest. */
  hear(hints: readonly Hint[]): readonly Hint[] {
    if (!hints.some(({ record }) => record)) return hints;
    return hints.filter((hint) => {
      if (hint.record) this.#hearNamed(hint, hint.record);
      return !hint.record;
    });
  }

  #hearNamed({ record: _, ...hint }: Hint, record: InState<"claimed">): void {
    const { isRunning, metrics, owner, take } = this.#options;
    const { id } = record.message;
    const { leaseUntil } = record.state;
    const now = this.#ports.clock.now();
    this.#forget(now);
    if (this.#taken.has(id) || isRunning(id))
      return metrics.count("posthaste_named_hints_total", "again");
    const isMine = record.state.owner === owner;
    const isLate = now >= leaseUntil - limits.leaseSafetyMs;
    if (isMine && !isLate) {
      this.#taken.set(id, leaseUntil);
      metrics.count("posthaste_named_hints_total", "taken");
      return take(record);
    }
    metrics.count("posthaste_named_hints_total", isMine ? "late" : "foreign");
    this.#hearLater(hint, Math.max(0, leaseUntil - now));
  }

  #hearLater(hint: Hint, ms: number): void {
    // Its alarm rings as well.
    if (this.#hasLeft || this.#later.size >= waitingMax) return;
    const callOff = this.#ports.clock.after(ms + 1, () => {
      this.#later.delete(callOff);
      this.#options.due([hint]);
    });
    this.#later.add(callOff);
  }

  #forget(now: number): void {
    for (const [id, until] of this.#taken) {
      if (until > now && this.#taken.size < rememberedMax) return;
      this.#taken.delete(id);
    }
  }

  #announceNow(): void {
    this.#cancel?.();
    this.#cancel = undefined;
    void this.#announce();
  }

  async #announce(): Promise<void> {
    const { clock, log, roster } = this.#ports;
    if (!roster || this.#hasLeft) return;
    this.#cancel = clock.after(limits.rosterEveryMs, () => void this.#announce());
    const isOpen = this.#options.isOpen();
    this.#wasOpen = isOpen;
    const { owner } = this.#options;
    await roster
      .announce({ owner, partitions: this.#partitions, isOpen })
      .catch((error: unknown) => log.debug("roster.unannounced", { error }));
  }
}
