/**
 * Writes the log rows of plain deliveries, in batches, a moment after they were settled.
 *
 * (1) A row that is lost with this process is written when its record is removed.
 * (2) The waiting rows are bounded in number, bytes and age. Rows beyond a bound are left to that removal, and
 *     counted.
 */
import { type AttemptFact, configurationBytes, type Message } from "@posthaste/domain";
import { type Clock, type Log, type MessageLog } from "@posthaste/ports";

type Entry = {
  readonly message: Message;
  readonly fact: AttemptFact;
  readonly bytes: number;
  /** When the row was added, by `passedMs`. */
  readonly addedMs: number;
};

export type OwedLogPorts = {
  readonly messageLog: Pick<MessageLog, "append">;
  readonly clock: Clock;
  readonly log: Log;
};

const gatherMs = 100;
const againMs = 1_000;
const batchMax = 500;
const waitingMax = 20_000;
const waitingBytesMax = 32 * 1024 * 1024;
/** Well below the age at which records are removed: the two writers of a delivery may differ by milliseconds on when it ended. */
const ageMsMax = 20_000;
const noBody = new Uint8Array();

export class OwedLog {
  readonly #ports: OwedLogPorts;
  readonly #wrote: () => void;
  #waiting: Entry[] = [];
  #waitingBytes = 0;
  #cancel: (() => void) | undefined;
  #writing: Promise<void> | undefined;
  #left = 0;
  #isLeaving = false;
  /** The last write failed; the next one waits for its timer. */
  #isLate = false;

  /** `wrote` is called when a write has ended, or the waiting rows were left. */
  constructor(ports: OwedLogPorts, wrote: () => void) {
    this.#ports = ports;
    this.#wrote = wrote;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0 && this.#writing === undefined;
  }

  /** The number of rows left to the removal of their records. */
  get left(): number {
    return this.#left;
  }

  add(message: Message, fact: AttemptFact): void {
    const isFull = this.#waiting.length >= waitingMax || this.#waitingBytes >= waitingBytesMax;
    if (isFull || this.#isLeaving) return void this.#left++;
    const bytes = configurationBytes(message);
    this.#waitingBytes += bytes;
    const addedMs = this.#ports.clock.passedMs();
    this.#waiting.push({ message: { ...message, body: noBody }, fact, bytes, addedMs });
    if (this.#waiting.length >= batchMax && !this.#isLate) this.#write();
    else this.#writeIn(gatherMs);
  }

  /** Leaves all waiting rows to the removal. A write under way goes on. */
  leaveAll(): void {
    this.#isLeaving = true;
    this.#leave(this.#waiting.splice(0));
    this.#wrote();
  }

  stop(): void {
    this.#cancel?.();
  }

  #leave(entries: readonly Entry[]): void {
    this.#left += entries.length;
    this.#forget(entries);
  }

  #forget(entries: readonly Entry[]): void {
    this.#waitingBytes -= entries.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  #writeIn(ms: number): void {
    this.#cancel ??= this.#ports.clock.after(ms, () => {
      this.#cancel = undefined;
      this.#write();
    });
  }

  #write(): void {
    if (this.#writing) return;
    const batch = this.#waiting.splice(0, batchMax);
    this.#writing = this.#append(batch).then((pauseMs) => {
      this.#writing = undefined;
      if (this.#waiting.length > 0 && pauseMs === 0) this.#write();
      else if (this.#waiting.length > 0) this.#writeIn(pauseMs);
      this.#wrote();
    });
  }

  /** Resolves to the pause before the next write, in milliseconds. */
  async #append(batch: readonly Entry[]): Promise<number> {
    const { clock, log, messageLog } = this.#ports;
    try {
      await messageLog.append(batch);
      this.#isLate = false;
      this.#forget(batch);
      return this.#waiting.length >= batchMax ? 0 : gatherMs;
    } catch (error) {
      this.#isLate = true;
      const passedMs = clock.passedMs();
      const isOld = ({ addedMs }: Entry): boolean =>
        this.#isLeaving || passedMs - addedMs >= ageMsMax;
      const all = [...batch, ...this.#waiting];
      const old = all.filter(isOld);
      this.#waiting = all.filter((entry) => !isOld(entry));
      this.#leave(old);
      log.warn("log.late", { error, waiting: this.#waiting.length, left: old.length });
      return againMs;
    }
  }
}
