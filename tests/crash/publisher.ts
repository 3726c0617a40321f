/** Publishes without pause from several connections, through kills, and records the acknowledgements. */
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Journal } from "../faults/history/journal.ts";
import { type Kind } from "../faults/history/kinds.ts";
import { publish, type Target } from "../faults/world/publish.ts";

const connections = 48;
const pauseAfterFailureMs = 20;
const kinds: readonly Kind[] = [
  "plain",
  "plain",
  "plain",
  "plain",
  "delayed",
  "flaky",
  "callback",
  "deduplicated",
];

export class Publisher {
  readonly #target: Target;
  readonly #journal: Journal;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: connections });
  readonly #loops: Promise<void>[] = [];
  #next = 0;
  #stopped = false;

  constructor(target: Target, journal: Journal) {
    this.#target = target;
    this.#journal = journal;
  }

  start(): void {
    for (let i = 0; i < connections; i++) this.#loops.push(this.#loop());
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all(this.#loops);
    this.#agent.destroy();
  }

  async #loop(): Promise<void> {
    while (!this.#stopped) {
      const n = this.#next++;
      const kind = kinds[n % kinds.length] ?? "plain";
      // A caller that asked for deduplication and does not know the outcome repeats the publish.
      for (let again = true; again && !this.#stopped;)
        again = !(await this.#publish(n, kind)) && kind === "deduplicated";
    }
  }

  /** Resolves to whether the publish was acknowledged. */
  async #publish(n: number, kind: Kind): Promise<boolean> {
    const answer = await publish(this.#target, this.#agent, n, kind);
    if (answer.kind === "acknowledged") this.#journal.acks.push(answer.ack);
    else await sleep(pauseAfterFailureMs);
    return answer.kind === "acknowledged";
  }
}
