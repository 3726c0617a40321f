/**
 * The topics as Kafka has them: names, keys, partitions, how long messages are kept, which services write and read
 * them. Which member receives an event does not depend on its partition, except for `scheduler.wake`: there a shard has
 * a partition, and the member to which the partition is assigned owns the shard (docs/design/record#shards).
 */
import { allShards, hash32, shardCount } from "@posthaste/domain";
import { isFact, type Topic, type Topics, topics } from "@posthaste/ports";

type Placing<T extends Topic> = {
  readonly keyOf: (event: Topics[T]) => string;
  /** Returns any whole number; the partition is that number modulo the number of partitions. */
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

export const shardsOn = (
  partitions: readonly number[],
  partitionCount: number,
): readonly number[] => allShards.filter((shard) => partitions.includes(shard % partitionCount));

/** The topic of unreadable messages; see parking.ts. */
export const parkedTopic = "parked";
export type KafkaTopic = Topic | typeof parkedTopic;

type Member = "gateway" | "scheduler" | "deliverer" | "callback-dispatcher" | "workflow-log";
/** The services that write to a topic, and those that read it, each as a group of its name. */
type Parties = { readonly writers: readonly Member[]; readonly readers: readonly Member[] };

const publishing: readonly Member[] = ["gateway", "scheduler", "deliverer", "callback-dispatcher"];
const parties: Readonly<Record<KafkaTopic, Parties>> = {
  "message.accepted": { writers: publishing, readers: ["workflow-log"] },
  "message.due": { writers: publishing, readers: ["deliverer"] },
  "message.settled": { writers: publishing, readers: ["callback-dispatcher", "workflow-log"] },
  "scheduler.wake": { writers: publishing, readers: ["scheduler"] },
  parked: {
    writers: ["scheduler", "deliverer", "callback-dispatcher", "workflow-log"],
    readers: [],
  },
};

export const partiesOf = (topic: KafkaTopic): Parties => parties[topic];

/** Returns the name of a group of one topic: the members of a Kafka group must all subscribe to the same topics. */
export const groupOf = (prefix: string, name: string, topic: Topic): string =>
  `${prefix}${name}.${topic}`;

/** A topic to be made. Times are in milliseconds, sizes in bytes. */
export type TopicPlan = {
  readonly topic: KafkaTopic;
  readonly name: string;
  readonly partitions: number;
  /** Whether a message that is removed sooner than `retentionMs` is lost. */
  readonly isFact: boolean;
  readonly retentionMs: number;
  /** The bound for each partition, if it may get so many messages that time alone is no bound. */
  readonly retentionBytes?: number;
  readonly messageBytesMax?: number;
};

/** A hint that is an hour old is useless: its alarm has rung. */
const hintRetentionMsMax = 3_600_000;
/** Hints with records carry bodies and are useful for seconds: a hint not received within minutes waits for its alarm. */
const recordRetentionMsMax = 300_000;
const recordRetentionBytes = 256 * 1024 * 1024;
/** A parked message carries headers of the parking beside its own. */
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
      topic,
      name: prefix + topic,
      partitions: topic === "scheduler.wake" ? Math.min(partitions, shardCount) : partitions,
      isFact: isFact(topic),
      ...(isFact(topic) ? { retentionMs } : topic === "message.due" ? ofRecord : ofHint),
    })),
    {
      topic: parkedTopic,
      name: prefix + parkedTopic,
      partitions: 1,
      isFact: true,
      retentionMs,
      messageBytesMax: parkedBytesMax,
    },
  ];
}

const segmentMsMin = 60_000;
/** The number of segments of a partition that is bounded by size. */
const segmentsMin = 4;

/** Returns the settings that a topic is made with, by their names at the broker. All other settings are the broker's. */
export function settingsOf({
  retentionMs,
  retentionBytes,
  messageBytesMax,
}: TopicPlan): Readonly<Record<string, string>> {
  return {
    "cleanup.policy": "delete",
    // A broker that compresses by its own choice may use a codec that no member can read.
    "compression.type": "producer",
    "retention.ms": String(retentionMs),
    // Only whole segments are removed, so a segment that gets few messages is closed in time.
    "segment.ms": String(Math.max(segmentMsMin, Math.floor(retentionMs / 6))),
    ...(retentionBytes !== undefined && {
      "retention.bytes": String(retentionBytes),
      "segment.bytes": String(Math.floor(retentionBytes / segmentsMin)),
    }),
    ...(messageBytesMax !== undefined && { "max.message.bytes": String(messageBytesMax) }),
  };
}
