/**
 * The world: virtual time, chance from a seed, and the trace of all events. Each event comes to rest before the next
 * begins, so that a seed is a history.
 */
import { createHash, type Hash } from "node:crypto";
import { type Clock, watchSetting } from "@posthaste/ports";
import { dice, type Dice, epochStart, type VirtualClock, virtualClock } from "@posthaste/testing";

/** The clock's own bound on one timer. */
const armMsMax = 3_600_000;
/** Resolves after the last microtask. Nothing in a simulation hands over by the event loop, whose turns would be a third of its time. */
const drained = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));
/** Lines at the end of the trace that a failure shows. */
const tailMax = 400;

export type TraceSink = (line: string) => void;

export class World {
  readonly #clock: VirtualClock;
  readonly #dice: Dice;
  readonly #hash: Hash = createHash("sha256");
  readonly #sink: TraceSink | undefined;
  readonly #tail: string[] = [];
  #steps = 0;
  #storeSetMs = 0;
  /** Called when an event has come to rest. */
  onStep: () => void = () => undefined;

  /** `rests` resolves when all effects of an event have come to rest. */
  constructor(seed: number, sink?: TraceSink, rests = drained) {
    this.#clock = virtualClock(epochStart, rests);
    this.#dice = dice(seed);
    this.#sink = sink;
  }

  get now(): number {
    return this.#clock.now();
  }

  get elapsed(): number {
    return this.#clock.now() - epochStart;
  }

  /** The time of the store's clock, which all processes use. */
  get storeNow(): number {
    return this.now + this.#storeSetMs;
  }

  /** Sets the clock of the store ahead by `ms` from now on. */
  setStore(ms: number): void {
    this.#storeSetMs = ms;
  }

  storeClock(): Clock {
    const now = (): number => this.storeNow;
    const passedMs = (): number => this.elapsed;
    return {
      now,
      passedMs,
      setAheadMs: watchSetting(now, passedMs),
      after: (ms, task) => this.after(ms, task),
    };
  }

  get steps(): number {
    return this.#steps;
  }

  /** Returns a generator for one subject: one more draw there changes nothing elsewhere. */
  chanceOf(): Dice {
    return this.#dice.fork();
  }

  after(ms: number, task: () => void): () => void {
    if (ms > armMsMax) {
      let cancel = this.#clock.after(armMsMax, () => (cancel = this.after(ms - armMsMax, task)));
      return () => cancel();
    }
    return this.#clock.after(Math.max(0, Math.round(ms)), () => this.#step(task));
  }

  wait(ms: number): Promise<void> {
    return new Promise((resolve) => this.after(ms, resolve));
  }

  async advance(ms: number): Promise<void> {
    await this.#clock.advance(ms);
    this.onStep();
  }

  /** Runs until `work`, which comes from outside the history, is done. */
  async during<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const finished = work.finally(() => (done = true));
    // The caller that awaits `finished` gets the rejection.
    finished.catch(() => undefined);
    for (;;) {
      await this.#clock.advance(0);
      if (done) return finished;
      await this.#clock.advance(1);
    }
  }

  trace(text: string): void {
    const line = `${String(this.elapsed).padStart(9)}  ${text}`;
    this.#hash.update(line);
    this.#hash.update("\n");
    this.#sink?.(line);
    this.#tail.push(line);
    if (this.#tail.length > 2 * tailMax) this.#tail.splice(0, tailMax);
  }

  /** The last lines of the trace, oldest first. */
  get tail(): readonly string[] {
    return this.#tail.slice(-tailMax);
  }

  /** Returns the digest of the whole trace. Must be called last. */
  digest(): string {
    return this.#hash.copy().digest("hex");
  }

  #step(task: () => void): void {
    // All effects of the last event have come to rest by now.
    this.onStep();
    this.#steps += 1;
    task();
  }
}
