/** Encodes events, gives them their partition and their trace, and hands them to `Outbound`. */
import { type LaneId } from "@posthaste/domain";
import { type Clock, type Log, type Topic, type Topics, type WakeEvent } from "@posthaste/ports";
import { encode } from "./codec.ts";
import { type Counts } from "./counts.ts";
import { type Link } from "./link.ts";
import { factMsMax, type Outbound, type OutgoingEvent } from "./outbound.ts";
import { type PartitionCounts } from "./provision.ts";
import { placingOf } from "./topics.ts";
import { outgoing, type Trace } from "./trace.ts";

export type PublisherOptions = {
  readonly prefix: string;
  readonly link: Pick<Link, "isUp" | "untilUp" | "partitions" | "recount">;
  readonly outbound: Pick<Outbound, "hint" | "fact">;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: Counts;
  readonly trace: Trace | undefined;
  readonly closing: AbortSignal;
};

/** Below a mebibyte, the most that a broker accepts by default. */
const eventBytesMax = 900 * 1024;

export class Publisher {
  readonly #options: PublisherOptions;

  constructor(options: PublisherOptions) {
    this.#options = options;
  }

  hints<T extends Topic>(topic: T, events: readonly Topics[T][]): void {
    const { link, outbound, log, counts, closing } = this.#options;
    const known = link.partitions();
    if (!known || !link.isUp() || closing.aborted) {
      counts.hintsDropped += events.length;
      return;
    }
    const { sayings, tooLarge } = this.#sayingsOf(known, topic, events);
    outbound.hint(sayings);
    if (tooLarge.length > 0) log.warn("bus.hint_too_large", { topic, bytes: tooLarge });
  }

  /** Publishes all facts that are not too large, then throws if any was. */
  async facts<T extends Topic>(topic: T, events: readonly Topics[T][]): Promise<void> {
    if (this.#options.closing.aborted) throw new Error("the bus is closed");
    const known = this.#options.link.partitions() ?? (await this.#firstPartitions());
    const { sayings, tooLarge } = this.#sayingsOf(known, topic, events);
    await this.#options.outbound.fact(sayings);
    if (tooLarge.length > 0)
      throw new Error(`${topic}: ${tooLarge.join(", ")} bytes, more than ${eventBytesMax}`);
  }

  /** Waits for the partitions, which are unknown before the brokers were reached for the first time. */
  async #firstPartitions(): Promise<PartitionCounts> {
    const { link, clock, closing } = this.#options;
    const late = new AbortController();
    const cancel = clock.after(factMsMax, () => late.abort());
    await link.untilUp(AbortSignal.any([closing, late.signal]));
    cancel();
    const counts = link.partitions();
    if (!counts) throw new Error("no broker has been reached yet");
    return counts;
  }

  /** `tooLarge`: the sizes of events that no broker would accept. */
  #sayingsOf<T extends Topic>(
    partitions: PartitionCounts,
    topic: T,
    events: readonly Topics[T][],
  ): { readonly sayings: readonly OutgoingEvent[]; readonly tooLarge: readonly number[] } {
    const { link, prefix, trace, counts } = this.#options;
    const name = prefix + topic;
    const count = partitions.get(name) ?? 1;
    const { keyOf, placeOf } = placingOf(topic);
    const headers = outgoing(trace);
    const sayings: OutgoingEvent[] = [];
    const tooLarge: number[] = [];
    for (const event of events) {
      const value = encode(topic, event);
      const partition = placeOf(event) % count;
      const isToOne = isSaidToOne(event);
      if (isToOne && placeOf(event) >= count) link.recount();
      const saying = {
        ...{ topic: name, partition, key: keyOf(event), value },
        ...(isToOne && { joins: topic }),
        ...(!headers && isWakeOfLane(event) && { once: event.lane }),
      };
      if (value.length > eventBytesMax) tooLarge.push(value.length);
      else sayings.push(headers ? { ...saying, headers } : saying);
    }
    counts.refused += tooLarge.length;
    return { sayings, tooLarge };
  }
}

/**
 * Reports whether the event is an untraced wake of a lane. One such wake replaces another, since a lane is looked at
 * as a whole; traced ones are each sent in their own trace.
 */
const isWakeOfLane = (event: Topics[Topic]): event is WakeEvent & { readonly lane: LaneId } =>
  "lane" in event;

/**
 * Reports whether the hint names a process of the roster, which can read several in one Kafka message: an earlier
 * build would park them.
 */
const isSaidToOne = (event: Topics[Topic]): boolean => "to" in event && event.to !== undefined;
