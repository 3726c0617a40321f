/**
 * A subscription: a member of a group for as long as there is a listener, whatever happens to the brokers meanwhile.
 * Owns one consumer after the other: kafkajs ends one for good now and then, and the subscription starts the next.
 */
import { endsWithin, pause } from "@posthaste/ports";
import { Consumer, type ConsumerOptions } from "./consumer.ts";
import { type Link } from "./link.ts";
import { backOffMs } from "./back-off.ts";
import { missingRight } from "./rights.ts";
import { stalledMs, watch } from "./watchdog.ts";

export type SubscriptionOptions = Omit<
  ConsumerOptions,
  "partitionCount" | "joined" | "rebalancing" | "alive"
> & {
  /** Called with the partitions that are received from now on. `countPartitions` counts those of the topic. */
  readonly assigned: (
    partitions: readonly number[],
    countPartitions: () => Promise<number>,
  ) => Promise<void>;
  /** Called when no partition is assigned until the next assignment, or until the next consumer has joined. */
  readonly unassigned: () => void;
  readonly link: Pick<Link, "isUp" | "untilUp" | "partitions">;
  readonly answers: () => Promise<boolean>;
  readonly fatal: (error: Error) => void;
};

const joinMsMax = 10_000;
/** A group that has been silent for longer is not served: fetches return every 150 ms, heartbeats are sent every 300. */
const silentMsMax = 2_000;
/** A member that has stayed for longer has the right to read; without it the first fetch ends the member. */
const stayedMsMin = 2_000;

export class Subscription {
  readonly #options: SubscriptionOptions;
  readonly #stopping = new AbortController();
  readonly #joined = Promise.withResolvers<void>();
  #consumer: Consumer | undefined;
  #running: Promise<void> | undefined;
  #unwatch: (() => void) | undefined;
  #aliveAt = Number.NEGATIVE_INFINITY;
  #progress = 0;
  #isMember = false;
  #memberSince = 0;
  #missing: string | undefined;

  constructor(options: SubscriptionOptions) {
    this.#options = options;
  }

  /** Resolves when the subscription receives events, or when that takes too long; the subscription keeps trying. */
  async open(): Promise<void> {
    const { clock, link, answers } = this.#options;
    this.#running = this.#stayMember();
    this.#unwatch = watch({
      clock,
      progress: () => this.#progress,
      isUp: () => link.isUp() && this.missingRight() === undefined,
      answers,
      stalled: () => this.#stalled(),
    });
    await endsWithin(clock, joinMsMax, this.#joined.promise);
  }

  hears(): boolean {
    return (
      this.#isMember &&
      this.#options.clock.passedMs() - this.#aliveAt <= silentMsMax &&
      this.missingRight() === undefined
    );
  }

  /** Returns the right whose lack ended the last member, until the next has stayed: joining needs no right to read the topic. */
  missingRight(): string | undefined {
    const memberMs = this.#isMember ? this.#options.clock.passedMs() - this.#memberSince : 0;
    return memberMs >= stayedMsMin ? undefined : this.#missing;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#unwatch?.();
    await this.#consumer?.stop(this.hears());
    await this.#running;
    this.#joined.resolve();
  }

  async #stayMember(): Promise<void> {
    const { clock, link, log, topic, group, counts, unassigned } = this.#options;
    const { signal } = this.#stopping;
    for (let failures = 0; ;) {
      await link.untilUp(signal);
      if (signal.aborted) return;
      const progressBefore = this.#progress;
      const reason = await this.#runConsumer(link.partitions()?.get(topic) ?? 1);
      const told = this.missingRight();
      this.#isMember = false;
      unassigned();
      if (signal.aborted) return;
      counts.consumerRestarts++;
      const missing = missingRight(reason, { to: "read", topics: [topic], group });
      // Without a right the consumer ends the same way each second.
      if (missing === undefined || missing !== told)
        log.warn("bus.consumer_ended", { topic, group, reason: missing, error: reason });
      this.#missing = missing;
      const progressed = missing === undefined && this.#progress > progressBefore;
      failures = progressed ? 0 : failures + 1;
      await pause(clock, backOffMs(failures), signal);
    }
  }

  async #runConsumer(partitionCount: number): Promise<unknown> {
    const { assigned, unassigned, ...options } = this.#options;
    this.#consumer = new Consumer({
      ...options,
      partitionCount,
      joined: (partitions, countPartitions) => {
        if (!this.#isMember) this.#memberSince = this.#options.clock.passedMs();
        this.#isMember = true;
        this.#alive();
        this.#joined.resolve(assigned(partitions, countPartitions));
      },
      rebalancing: unassigned,
      alive: () => this.#alive(),
    });
    return this.#consumer.run();
  }

  #alive(): void {
    this.#progress++;
    this.#aliveAt = this.#options.clock.passedMs();
  }

  #stalled(): void {
    const { fatal, topic, group } = this.#options;
    const seconds = stalledMs / 1_000;
    fatal(
      new Error(
        `the group ${group} has fetched nothing from ${topic} and sent no heartbeat for ${seconds} s, although the brokers answer`,
      ),
    );
  }
}
