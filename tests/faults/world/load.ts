/** Publishes at an even pace, whatever happens meanwhile, and records the answers. */
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ack, type Journal } from "../history/journal.ts";
import { type Kind } from "../history/kinds.ts";
import { publish, type Target } from "./publish.ts";

/** Kinds that no lane and no queue holds up, for as many as a cluster accepts. */
export const free: readonly Kind[] = [
  ...["plain", "delayed", "plain", "flaky", "plain", "plain", "deduplicated", "plain"],
  ...["plain", "callback", "plain", "plain", "failing", "plain", "delayed", "plain"],
] as const;

/** A cycle of kinds. Its length is prime to the number of lanes and of queues, so that a kind gets into each of its own. */
const mix: readonly Kind[] = [
  "plain",
  "delayed",
  "paired",
  "queued",
  "flaky",
  "deduplicated",
  "paired",
  "callback",
  "plain",
  "failing",
  "paired",
  "queued",
  "delayed",
  "plain",
  "flaky",
];
const inFlightMax = 64;
const pauseAfterRefusalMs = 250;

export class Load {
  readonly #target: Target;
  readonly #journal: Journal;
  /** A connection for each request: the server may close a kept one as the next request is sent. */
  readonly #agent = new Agent({ keepAlive: false });
  readonly #inFlight = new Set<Promise<void>>();
  #timers: readonly NodeJS.Timeout[] = [];
  #next = 0;
  #ended = 0;

  constructor(target: Target, journal: Journal) {
    this.#target = target;
    this.#journal = journal;
  }

  get next(): number {
    return this.#next;
  }

  /** Publishes that were answered or broken off. */
  get ended(): number {
    return this.#ended;
  }

  /** Publishes at this pace, beside earlier starts. */
  start(perSecond: number, kinds = mix): void {
    const publishNext = (): void => {
      if (this.#inFlight.size < inFlightMax)
        this.#begin(kinds[this.#next % kinds.length] ?? "plain");
    };
    this.#timers = [...this.#timers, setInterval(publishNext, 1_000 / perSecond)];
  }

  /** Resolves when all publishes begun have been answered. */
  async stop(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  /** Publishes `count` messages at once; resolves when all are acknowledged. */
  async burst(kind: Kind, count: number): Promise<readonly Ack[]> {
    return Promise.all(Array.from({ length: count }, () => this.#untilAcknowledged(kind)));
  }

  #begin(kind: Kind): void {
    const n = this.#next++;
    const done = (kind === "deduplicated" ? this.#twice(n) : this.#once(n, kind)).then(() => {
      this.#inFlight.delete(done);
    });
    this.#inFlight.add(done);
  }

  async #untilAcknowledged(kind: Kind): Promise<Ack> {
    for (;;) {
      const ack = await this.#once(this.#next++, kind);
      if (ack) return ack;
      await sleep(pauseAfterRefusalMs);
    }
  }

  /** Publishes like a caller that asks for deduplication: repeats the same until it is acknowledged, and once more. */
  async #twice(n: number): Promise<void> {
    for (let acknowledged = 0; acknowledged < 2;) {
      if (await this.#once(n, "deduplicated")) acknowledged += 1;
      else await sleep(pauseAfterRefusalMs);
    }
  }

  async #once(n: number, kind: Kind): Promise<Ack | undefined> {
    const answer = await publish(this.#target, this.#agent, n, kind);
    this.#ended += 1;
    if (answer.kind === "acknowledged") {
      this.#journal.acks.push(answer.ack);
      return answer.ack;
    }
    this.#journal.refusals.push(answer.refusal);
    return undefined;
  }
}
