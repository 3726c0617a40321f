/**
 * What the log is owed: deliveries whose records have ended with nothing to follow. Written many at once, a moment later.
 *
 * (1) Nothing is lost with it: a record is not removed before the log has its delivery.
 * (2) It is bounded: what waits for too long, or beyond so many, is left to that removal.
 */
import { type AttemptFact, type Message } from "@posthaste/domain";
import { type Clock, type Log, type MessageLog } from "@posthaste/ports";

type Entry = { readonly message: Message; readonly fact: AttemptFact };

export type OwedLogPorts = {
  readonly messageLog: Pick<MessageLog, "append">;
  readonly clock: Clock;
  readonly log: Log;
};

const gatherMs = 100;
const againMs = 1_000;
const batchMax = 500;
const waitingMax = 20_000;
/** Well before the removal looks: two writers of one delivery may disagree by milliseconds on when it ended. */
const ageMsMax = 20_000;
const noBody = new Uint8Array();

export class OwedLog {
  readonly #ports: OwedLogPorts;
  readonly #wrote: () => void;
  #waiting: Entry[] = [];
  #cancel: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  /** The last write has failed, and the next has its time. */
  #isLate = false;

  /** `wrote`: less waits than before. */
  constructor(ports: OwedLogPorts, wrote: () => void) {
    this.#ports = ports;
    this.#wrote = wrote;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#writing === undefined;
  }

  add(message: Message, fact: AttemptFact): void {
    if (this.#waiting.length >= waitingMax) return;
    this.#waiting.push({ message: { ...message, body: noBody }, fact });
    if (this.#waiting.length >= batchMax && !this.#isLate) this.#write();
    else this.#writeIn(gatherMs);
  }

  stop(): void {
    this.#cancel?.();
  }

  #writeIn(ms: number): void {
    this.#cancel ??= this.#ports.clock.after(ms, () => {
      this.#cancel = undefined;
      this.#write();
    });
  }

  #write(): void {
    if (this.#writing) return;
    const batch = this.#waiting.slice(0, batchMax);
    this.#writing = this.#append(batch).then((pauseMs) => {
      this.#writing = undefined;
      if (this.#waiting.length > 0 && pauseMs === 0) this.#write();
      else if (this.#waiting.length > 0) this.#writeIn(pauseMs);
      this.#wrote();
    });
  }

  /** How long to wait before the next. */
  async #append(batch: readonly Entry[]): Promise<number> {
    const { clock, log, messageLog } = this.#ports;
    try {
      await messageLog.append(batch);
      this.#isLate = false;
      this.#waiting = this.#waiting.slice(batch.length);
      return this.#waiting.length >= batchMax ? 0 : gatherMs;
    } catch (error) {
      this.#isLate = true;
      const since = clock.now() - ageMsMax;
      const before = this.#waiting.length;
      this.#waiting = this.#waiting.filter(({ fact }) => fact.endedAt > since);
      log.warn("log.late", { error, waiting: before, left: before - this.#waiting.length });
      return againMs;
    }
  }
}
