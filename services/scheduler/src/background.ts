/** Work that the scheduler starts and does not wait for: bounded, one at a time per lane and per name. */
import { type LaneId } from "@posthaste/domain";
import { type Background } from "@posthaste/engine";
import { type Log } from "@posthaste/ports";

export type BackgroundParts = {
  readonly log: Log;
  readonly grant: (lane: LaneId) => Promise<void>;
};

export class BackgroundWork implements Background {
  readonly #parts: BackgroundParts;
  readonly #running = new Map<string, Promise<void>>();
  /** What was asked for again while it runs. */
  readonly #again = new Set<string>();

  constructor(parts: BackgroundParts) {
    this.#parts = parts;
  }

  grant(lane: LaneId): void {
    const name = `grant ${lane}`;
    if (this.#running.has(name)) this.#again.add(name);
    else this.run(name, () => this.#parts.grant(lane));
  }

  /** A name that runs already is not started again: what it missed, the alarm brings back. */
  run(name: string, task: () => Promise<void>): void {
    if (!this.#running.has(name)) this.#running.set(name, this.#carryOut(name, task));
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #carryOut(name: string, task: () => Promise<void>): Promise<void> {
    try {
      do {
        this.#again.delete(name);
        await task();
      } while (this.#again.has(name));
    } catch (error) {
      this.#parts.log.warn("background.failed", { task: name, error });
    } finally {
      // In the same turn as the last look at `#again`: who asks from now on starts anew, and nobody is forgotten.
      this.#running.delete(name);
      this.#again.delete(name);
    }
  }
}
