/** A step that is repeated while there is something to do: one at a time, started by each call that brings something. */
export type LoopParts = {
  readonly hasWork: () => boolean;
  /** Takes something away with every call, and never rejects. */
  readonly step: () => Promise<void>;
};

export class Loop {
  readonly #parts: LoopParts;
  #running: Promise<void> | undefined;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** There may be something to do. */
  wake(): void {
    if (this.#parts.hasWork()) this.#running ??= this.#run();
  }

  async ended(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#parts.hasWork()) await this.#parts.step();
    // In the same turn as the last look: what comes from now on is a run of its own, and nothing is forgotten.
    this.#running = undefined;
  }
}
