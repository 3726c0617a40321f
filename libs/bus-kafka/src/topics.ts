/**
 * The four topics as Kafka sees them: names, keys, partitions, and how long what is said is kept.
 *
 * Which member hears an event does not depend on its partition but for `scheduler.wake`: there a shard has a partition,
 * and the member that is assigned the partition owns the shard (docs/design/record#shards).
 */
import { allShards, hash32, shardCount } from "@posthaste/domain";
import { isFact, type Topic, type Topics, topics } from "@posthaste/ports";

type Placing<T extends Topic> = {
  readonly keyOf: (event: Topics[T]) => string;
  /** Any whole number; modulo the number of partitions it is the partition. */
  readonly placeOf: (event: Topics[T]) => number;
};

const placings: { readonly [T in Topic]: Placing<T> } = {
  "message.accepted": byMessage(({ message }) => message.id),
  "message.due": { keyOf: ({ id }) => id, placeOf: ({ id, to }) => to ?? hash32(id) },
  "message.settled": byMessage(({ id }) => id),
  "scheduler.wake": { keyOf: ({ shard }) => String(shard), placeOf: ({ shard }) => shard },
};

function byMessage<E>(idOf: (event: E) => string) {
  return { keyOf: idOf, placeOf: (event: E) => hash32(idOf(event)) };
}

export function placingOf<T extends Topic>(topic: T): Placing<T> {
  return placings[topic];
}

/** The shards whose wakes arrive on `partitions`, of `partitionCount` in all. */
export const shardsOn = (
  partitions: readonly number[],
  partitionCount: number,
): readonly number[] => allShards.filter((shard) => partitions.includes(shard % partitionCount));

/** A topic to be made. Times in milliseconds, sizes in bytes. */
export type TopicPlan = {
  readonly name: string;
  readonly partitions: number;
  readonly retentionMs: number;
  /** Of each partition, where it may get so much that its time alone is no bound. */
  readonly retentionBytes?: number;
  readonly messageBytesMax?: number;
};

/** What could not be read; see parking.ts. */
export const parkedTopic = "parked";

/** A hint that is an hour old is of no use: its alarm has rung. */
const hintRetentionMsMax = 3_600_000;
/** Hints that have records carry bodies, of use for seconds: what was not heard within minutes waits for its alarm. */
const recordRetentionMsMax = 300_000;
const recordRetentionBytes = 256 * 1024 * 1024;
/** A parked message carries headers of ours beside its own. */
const parkedBytesMax = 2 * 1024 * 1024;

export function topicPlans(
  prefix: string,
  partitions: number,
  retentionMs: number,
): readonly TopicPlan[] {
  const ofHint = { retentionMs: Math.min(retentionMs, hintRetentionMsMax) };
  const ofRecord = {
    retentionMs: Math.min(retentionMs, recordRetentionMsMax),
    retentionBytes: recordRetentionBytes,
  };
  return [
    ...topics.map((topic) => ({
      name: prefix + topic,
      partitions: topic === "scheduler.wake" ? Math.min(partitions, shardCount) : partitions,
      ...(isFact(topic) ? { retentionMs } : topic === "message.due" ? ofRecord : ofHint),
    })),
    { name: prefix + parkedTopic, partitions: 1, retentionMs, messageBytesMax: parkedBytesMax },
  ];
}
