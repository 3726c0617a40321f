/** Repeats a step while there is work. One run at a time, started by the calls that bring work. */
export type LoopParts = {
  readonly hasWork: () => boolean;
  /** Does some of the work with every call, and never rejects. */
  readonly step: () => Promise<void>;
};

export class Loop {
  readonly #parts: LoopParts;
  #running: Promise<void> | undefined;

  constructor(parts: LoopParts) {
    this.#parts = parts;
  }

  /** Starts a run if there is work and none runs. */
  wake(): void {
    if (this.#parts.hasWork()) this.#running ??= this.#run();
  }

  async ended(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#parts.hasWork()) await this.#parts.step();
    // Runs in the same turn as the last look, so that later work starts a new run and none is forgotten.
    this.#running = undefined;
  }
}
