/** All subscriptions of this process, with one consumer each. */
import {
  type Clock,
  type Handler,
  isFact,
  type Log,
  type SubscribeOptions,
  type Topic,
} from "@posthaste/ports";
import { type ClientOptions } from "./client.ts";
import { type Counts } from "./counts.ts";
import { handOver } from "./hand-over.ts";
import { type Link } from "./link.ts";
import { type Park } from "./parking.ts";
import { answers } from "./provision.ts";
import { Subscription } from "./subscription.ts";
import { groupOf, shardsOn } from "./topics.ts";
import { type Trace } from "./trace.ts";

export type SubscriptionsOptions = {
  readonly prefix: string;
  readonly client: ClientOptions;
  readonly link: Link;
  readonly park: Park;
  readonly sessionMs: number;
  readonly metadataMs: number;
  readonly fatal: (error: Error) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: Counts;
  readonly trace: Trace | undefined;
};

export class Subscriptions {
  readonly #options: SubscriptionsOptions;
  readonly #open = new Map<Subscription, Topic>();

  constructor(options: SubscriptionsOptions) {
    this.#options = options;
  }

  /** Adds a subscription. Returns the function that ends it, which may be called twice. */
  async add<T extends Topic>(
    topic: T,
    name: string,
    handle: Handler<T>,
    { assigned, owns, gatherMs }: SubscribeOptions = {},
  ): Promise<() => Promise<void>> {
    const { prefix, client, ...options } = this.#options;
    const kafkaTopic = prefix + topic;
    const group = groupOf(prefix, name, topic);
    const subscription = new Subscription({
      ...options,
      client,
      topic: kafkaTopic,
      group,
      gatherMs,
      placeGone: (partition) => {
        // Hints are kept for as long as they are useful.
        if (!isFact(topic)) return;
        options.counts.placesLost++;
        options.log.error("bus.facts_lost", { topic: kafkaTopic, group, partition });
      },
      handOver: handOver({ ...options, topic, kafkaTopic, group, handle }),
      assigned:
        owns && topic === "scheduler.wake"
          ? telling(owns)
          : async (partitions) => assigned?.(partitions),
      // A scheduler keeps its last shards (docs/design/outages#ownership-only-saves-work).
      unassigned: () => assigned?.([]),
      answers: () => answers(client),
    });
    this.#open.set(subscription, topic);
    await subscription.open();
    return async () => {
      this.#open.delete(subscription);
      await subscription.stop();
    };
  }

  /** Reports whether there are subscriptions to `topic` and every one is served. */
  hear(topic: Topic): boolean {
    const those = [...this.#open].filter(([, of]) => of === topic);
    return those.length > 0 && those.every(([subscription]) => subscription.hears());
  }

  missingRights(): string | undefined {
    const rights = [...this.#open.keys()].flatMap((each) => each.missingRight() ?? []);
    return rights.length > 0 ? rights.join("; ") : undefined;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((subscription) => subscription.stop()));
    this.#open.clear();
  }
}

/**
 * Reports changes only, and those of the last join only. Each join counts the partitions: if they were counted once,
 * shards would have no owner after the topic has grown.
 */
function telling(
  owns: (shards: readonly number[]) => void,
): (partitions: readonly number[], countPartitions: () => Promise<number>) => Promise<void> {
  let told: string | undefined;
  let joins = 0;
  return async (partitions, countPartitions) => {
    const join = ++joins;
    const shards = shardsOn(partitions, await countPartitions());
    if (join !== joins || String(shards) === told) return;
    told = String(shards);
    owns(shards);
  };
}
