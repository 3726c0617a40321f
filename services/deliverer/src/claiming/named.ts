/**
 * Named messages: the insert of a gateway claims a message for the deliverer that it names, and the hint carries the
 * record.
 *
 * (1) A hint that arrives twice runs once: taken ids are remembered until their first lease is over. Beyond the
 *     number that can be remembered, messages are handed back.
 * (2) A message that names another deliverer, because a partition has moved, is left until that lease ends, and is
 *     then claimed like any other. The log is told of its acceptance now.
 * (3) A message whose lease is nearly over is handed back, so that any deliverer may claim it.
 */
import {
  type InState,
  isKnownFormat,
  leftMs as leftOf,
  limits,
  type MessageId,
} from "@posthaste/domain";
import { type Clock, type Hint } from "@posthaste/ports";
import { namedAttempt } from "../attempts/attempt.ts";
import { type Claiming } from "./claiming.ts";
import { type SharedParts } from "../parts.ts";
import { traceTaking } from "../trace.ts";

type NamedParts = SharedParts & { readonly claiming: Pick<Claiming, "giveBack" | "take"> };

export type NamedBounds = { readonly rememberedMax: number };

/** More messages than a deliverer can call within a named lease. */
const bounds: NamedBounds = { rememberedMax: 200_000 };
const waitingMax = 20_000;

export class Named {
  readonly #clock: Clock;
  readonly #parts: NamedParts;
  readonly #bounds: NamedBounds;
  /** The end of the first lease of each taken message, by `passedMs`; about in that order. */
  readonly #taken = new Map<MessageId, number>();
  /** Cancel the timers that wait for the end of other deliverers' leases. */
  readonly #later = new Set<() => void>();
  #hasStopped = false;

  constructor(clock: Clock, parts: NamedParts, { rememberedMax } = bounds) {
    this.#clock = clock;
    this.#parts = parts;
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
    const { acceptance, attempts, claiming, owner } = this.#parts;
    const { message, state } = record;
    const now = this.#clock.now();
    if (this.#taken.has(message.id) || attempts.has(message.id)) return this.#count("again");
    const isMine = state.owner === owner && isKnownFormat(message);
    const leftMs = leftOf(state.leaseUntil, limits.leaseMs, now);
    const isLate = leftMs <= limits.leaseSafetyMs;
    if (isLate || !isMine) this.#count(isMine ? "late" : "foreign");
    if (isMine && leftMs > 0) {
      if (isLate || this.#taken.size >= this.#bounds.rememberedMax)
        return claiming.giveBack(namedAttempt(record, this.#clock));
      this.#taken.set(message.id, this.#clock.passedMs() + leftMs);
      return this.#take(record);
    }
    acceptance.announce([record]);
    this.#hearLater(hint, leftMs);
  }

  #take(record: InState<"claimed">): void {
    const { claiming, permits, telemetry } = this.#parts;
    const attempt = namedAttempt(record, this.#clock);
    if (permits.caps.isCapped(attempt.tenant)) return claiming.giveBack(attempt);
    traceTaking(telemetry.tracer, record, this.#clock.now());
    if (claiming.take(attempt)) this.#count("taken");
  }

  #count(what: "again" | "foreign" | "late" | "taken"): void {
    this.#parts.telemetry.metrics.count("posthaste_named_hints_total", what);
  }

  #hearLater(hint: Hint, ms: number): void {
    // Without the timer, the alarm of the message rings.
    if (this.#hasStopped || this.#later.size >= waitingMax) return;
    const callOff = this.#clock.after(ms + 1, () => {
      this.#later.delete(callOff);
      this.#parts.attempts.hear([hint]);
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
