/**
 * Messages that their insert has claimed for a deliverer that it named: this one, if its roster entry was read.
 *
 * (1) A hint that is heard twice runs once: what was taken is remembered until its first lease is over. Where so many are
 *     remembered that there is no room, what comes is handed back.
 * (2) One that names another, since a partition has moved, is left alone until that lease has ended; then it is a hint like
 *     any other, to be claimed. The log hears of it now.
 * (3) One whose lease is nearly over is handed back: any deliverer may claim it at once.
 */
import {
  type InState,
  isUnderstood,
  leftMs as leftOf,
  limits,
  type MessageId,
  type Owner,
} from "@posthaste/domain";
import { type Clock, type Hint, type Telemetry } from "@posthaste/ports";

export type NamedOptions = {
  readonly owner: Owner;
  readonly metrics: Telemetry["metrics"];
  readonly isRunning: (id: MessageId) => boolean;
  readonly take: (record: InState<"claimed">) => void;
  /** There is no room to remember it, or no time to call it. */
  readonly handBack: (record: InState<"claimed">) => void;
  /** Nothing else tells the log of it before long. */
  readonly leave: (record: InState<"claimed">) => void;
  /** To be claimed. */
  readonly due: (hints: readonly Hint[]) => void;
};

export type NamedBounds = { readonly rememberedMax: number };

/** More than a deliverer can call within that lease. */
const bounds: NamedBounds = { rememberedMax: 200_000 };
const waitingMax = 20_000;

export class Named {
  readonly #clock: Clock;
  readonly #options: NamedOptions;
  readonly #bounds: NamedBounds;
  /** Until the end of their first lease, of `passedMs`, about in that order. */
  readonly #taken = new Map<MessageId, number>();
  /** How to call off what waits for the end of a lease that is not this deliverer's. */
  readonly #later = new Set<() => void>();
  #hasStopped = false;

  constructor(clock: Clock, options: NamedOptions, { rememberedMax } = bounds) {
    this.#clock = clock;
    this.#options = options;
    this.#bounds = { rememberedMax };
  }

  stop(): void {
    this.#hasStopped = true;
    for (const callOff of this.#later) callOff();
    this.#later.clear();
  }

  /** Takes those that are named, and answers the rest. */
  hear(hints: readonly Hint[]): readonly Hint[] {
    if (!hints.some(({ record }) => record)) return hints;
    this.#forget(this.#clock.passedMs());
    return hints.filter((hint) => {
      if (hint.record) this.#hearNamed(hint, hint.record);
      return !hint.record;
    });
  }

  #hearNamed({ record: _, ...hint }: Hint, record: InState<"claimed">): void {
    const { handBack, isRunning, leave, metrics, owner, take } = this.#options;
    const { message, state } = record;
    const now = this.#clock.now();
    if (this.#taken.has(message.id) || isRunning(message.id))
      return metrics.count("posthaste_named_hints_total", "again");
    const isMine = state.owner === owner && isUnderstood(message);
    const leftMs = leftOf(state.leaseUntil, limits.leaseMs, now);
    const isLate = leftMs <= limits.leaseSafetyMs;
    if (isLate || !isMine)
      metrics.count("posthaste_named_hints_total", isMine ? "late" : "foreign");
    if (isMine && leftMs > 0) {
      if (isLate || this.#taken.size >= this.#bounds.rememberedMax) return handBack(record);
      this.#taken.set(message.id, this.#clock.passedMs() + leftMs);
      return take(record);
    }
    leave(record);
    this.#hearLater(hint, leftMs);
  }

  #hearLater(hint: Hint, ms: number): void {
    // Its alarm rings as well.
    if (this.#hasStopped || this.#later.size >= waitingMax) return;
    const callOff = this.#clock.after(ms + 1, () => {
      this.#later.delete(callOff);
      this.#options.due([hint]);
    });
    this.#later.add(callOff);
  }

  #forget(passedMs: number): void {
    for (const [id, until] of this.#taken) {
      if (until > passedMs) return;
      this.#taken.delete(id);
    }
  }
}
