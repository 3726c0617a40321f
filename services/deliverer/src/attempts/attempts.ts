/** The attempts of this process, from their claim until the store has their outcome, with the messages that wait in line. */
import { type MessageId, TurnoverMap } from "@posthaste/domain";
import { type EventBus, type Hint } from "@posthaste/ports";
import { abort, type Attempt, lose } from "./attempt.ts";
import { type Lines } from "../lines/lines.ts";
import { type Permits } from "../permits/permits.ts";

export class Attempts {
  readonly #bus: Pick<EventBus, "publish">;
  readonly #lines: Lines;
  readonly #permits: Permits;
  readonly #running = new TurnoverMap<MessageId, Attempt>();

  constructor(bus: Pick<EventBus, "publish">, lines: Lines, permits: Permits) {
    this.#bus = bus;
    this.#lines = lines;
    this.#permits = permits;
  }

  get size(): number {
    return this.#running.size;
  }

  has(id: MessageId): boolean {
    return this.#running.has(id);
  }

  values(): Iterable<Attempt> {
    return this.#running.values();
  }

  add(attempt: Attempt): void {
    this.#running.set(attempt.record.message.id, attempt);
  }

  /** Removes an attempt whose outcome the store has taken or refused. */
  end(attempt: Attempt): void {
    const { id } = attempt.record.message;
    if (this.#running.get(id) === attempt) this.#running.delete(id);
    if (attempt.hinted) this.share([attempt.hinted]).catch(() => undefined);
  }

  /** Puts an attempt that was claimed without a permit in line. */
  addToLine(attempt: Attempt<"waiting">): void {
    this.add(attempt);
    this.#lines.addClaimed(attempt);
    this.#lines.goOn();
  }

  /** Aborts the call of a cancelled message. Returns false if the message does not run here. */
  cancel(id: MessageId): boolean {
    const attempt = this.#running.get(id);
    if (attempt) lose(attempt);
    return attempt !== undefined;
  }

  /** Aborts all calls. Their outcomes are written. */
  abortAll(): void {
    for (const attempt of this.#running.values()) abort(attempt);
  }

  /** Puts the hints in line. */
  hear(hints: readonly Hint[]): void {
    for (const hint of hints) if (!this.waitsForEnd(hint)) this.#lines.add(hint);
    this.#lines.goOn();
  }

  /** Takes the hints that have a free slot here, and publishes the rest for any deliverer. */
  async share(hints: readonly Hint[]): Promise<void> {
    const isMine = ({ tenant, origin }: Hint): boolean =>
      !this.#lines.isClosed && this.#permits.isFree({ tenant, origin, bytes: 0 });
    const theirs = hints.filter((hint) => !isMine(hint));
    this.hear(hints.filter(isMine));
    if (theirs.length > 0) await this.#bus.publish("message.due", theirs);
  }

  /**
   * Reports whether the message runs here, and then keeps its hint until the attempt has ended. The store may have
   * taken the outcome, and the retry may have rung, before this process hears the store's answer; without the hint
   * that retry would wait for its alarm. A hint with an older epoch is a repeat.
   */
  waitsForEnd(hint: Hint): boolean {
    const attempt = this.#running.get(hint.id);
    if (attempt && hint.epoch >= attempt.record.epoch) attempt.hinted = hint;
    return attempt !== undefined;
  }
}
