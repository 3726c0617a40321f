/** Work that the scheduler starts and does not wait for: bounded, one at a time per lane and per name. */
import { type LaneId } from "@posthaste/domain";
import { type Background, grant, type GrantPorts } from "@posthaste/engine";
import { type Log } from "@posthaste/ports";

export class BackgroundWork implements Background {
  readonly #ports: GrantPorts & { readonly log: Log };
  /** True: asked for again while it runs. */
  readonly #granting = new Map<LaneId, boolean>();
  readonly #running = new Map<string, Promise<void>>();

  constructor(ports: GrantPorts & { readonly log: Log }) {
    this.#ports = ports;
  }

  grant(lane: LaneId): void {
    if (this.#granting.has(lane)) {
      this.#granting.set(lane, true);
      return;
    }
    this.#granting.set(lane, false);
    this.run(`grant ${lane}`, () => this.#grantWhileAsked(lane));
  }

  /** A name that runs already is not started again: what it missed, the alarm brings back. */
  run(name: string, task: () => Promise<void>): void {
    if (this.#running.has(name)) return;
    const running = task()
      .catch((error: unknown) => this.#ports.log.warn("background.failed", { task: name, error }))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, running);
  }

  async settled(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  async #grantWhileAsked(lane: LaneId): Promise<void> {
    try {
      do {
        this.#granting.set(lane, false);
        await grant(this.#ports, lane);
      } while (this.#granting.get(lane) === true);
    } finally {
      this.#granting.delete(lane);
    }
  }
}
