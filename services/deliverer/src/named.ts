/**
 * Named messages: a gateway's insert claims a message for the deliverer that it names, and the hint carries the record.
 *
 * (1) A hint that arrives twice runs once: taken ids are remembered until their first lease is over. Beyond the number that can be
 *     remembered, messages are handed back.
 * (2) A message that names another deliverer, because a partition has moved, is left until that lease ends, and is then claimed like any
 *     other. The log is told of its acceptance now.
 * (3) A message whose lease is nearly over is handed back, so that any deliverer may claim it.
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
  /** Called for a message that there is no room to remember, or no time to call. */
  readonly handBack: (record: InState<"claimed">) => void;
  /** Called for another deliverer's message, of which the log must be told. */
  readonly leave: (record: InState<"claimed">) => void;
  /** Called with hints of messages to claim. */
  readonly due: (hints: readonly Hint[]) => void;
};

export type NamedBounds = { readonly rememberedMax: number };

/** More messages than a deliverer can call within a named lease. */
const bounds: NamedBounds = { rememberedMax: 200_000 };
const waitingMax = 20_000;

export class Named {
  readonly #clock: Clock;
  readonly #options: NamedOptions;
  readonly #bounds: NamedBounds;
  /** The end of the first lease of each taken message, by `passedMs`; about in that order. */
  readonly #taken = new Map<MessageId, number>();
  /** Cancel the timers that wait for the end of other deliverers' leases. */
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

  /** Takes the named messages, and returns the other hints. */
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
    // Without the timer the message's alarm rings.
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
