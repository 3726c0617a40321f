/**
 * Owns the one timer behind all deadlines of a sender. Calls come and go thousands of times a second and almost none
 * reaches its deadline, so adding and removing are cheap, and a rare ring looks at all of them.
 *
 * (1) A deadline expires once, at most 50 ms after its time, or is removed before.
 * (2) A process that was held up reads the sockets before anything expires. If it is held up again and again, it does
 *     so once, and then the deadlines expire.
 * (3) Rings are at least `ringMsMin` apart, so that they cost a bounded share of a core. No timer is longer than an
 *     hour.
 */
import { Places } from "@posthaste/domain";
import { type Clock } from "@posthaste/ports";

export interface Deadline {
  /** The time on the sender's clock. */
  readonly at: number;
  /** The place among the pending deadlines; only `Deadlines` sets it. */
  place?: number | undefined;
  expire(): void;
}

const ringMsMin = 20;
const heldUpMs = 100;
const timerMsMax = 3_600_000;

export class Deadlines {
  readonly #clock: Clock;
  /** Not a Set, whose tables would keep ended calls alive (see `TurnoverMap`). */
  readonly #pending = new Places<Deadline>();
  #armedFor = Infinity;
  #ringsAt = Infinity;
  /** The last ring was late, and left its work to the next. */
  #isPostponed = false;
  #disarm: () => void = () => undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(deadline: Deadline): void {
    deadline.place = this.#pending.add(deadline);
    if (deadline.at < this.#armedFor) this.#arm(deadline.at);
  }

  remove(deadline: Deadline): void {
    if (deadline.place === undefined) return;
    this.#pending.remove(deadline.place);
    deadline.place = undefined;
  }

  close(): void {
    this.#disarm();
    this.#armedFor = Infinity;
    for (const deadline of this.#pending.values()) this.remove(deadline);
  }

  #arm(at: number): void {
    this.#disarm();
    this.#armedFor = at;
    const now = this.#clock.passedMs();
    const waitMs = Math.min(Math.max(at - now, ringMsMin), timerMsMax);
    this.#ringsAt = now + waitMs;
    this.#disarm = this.#clock.after(waitMs, () => this.#ring());
  }

  #ring(): void {
    const now = this.#clock.passedMs();
    // Timers come before sockets in a turn: an answer may have been waiting since before its deadline.
    this.#isPostponed = !this.#isPostponed && now - this.#ringsAt > heldUpMs;
    if (this.#isPostponed) return this.#arm(now);
    this.#armedFor = Infinity;
    let nearest = Infinity;
    const past: Deadline[] = [];
    for (const deadline of this.#pending.values()) {
      if (deadline.at <= now) past.push(deadline);
      else nearest = Math.min(nearest, deadline.at);
    }
    for (const deadline of past.sort((a, b) => a.at - b.at)) {
      // An expiry may remove further deadlines.
      if (deadline.place === undefined) continue;
      this.remove(deadline);
      deadline.expire();
    }
    if (nearest < this.#armedFor) this.#arm(nearest);
  }
}
