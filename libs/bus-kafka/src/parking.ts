/**
 * Stores unreadable messages as they came, with the reason, and only then counts them as handled. An operator can
 * inspect a message, and publish it again for a version that can read it. Nothing is skipped, and nothing stops for
 * it.
 */
import { type Log } from "@posthaste/ports";
import { type IHeaders, type KafkaMessage } from "kafkajs";
import { type Counts } from "./counts.ts";
import { type OutgoingEvent } from "./outbound.ts";
import { parkedTopic } from "./topics.ts";

export type Unreadable = {
  readonly message: KafkaMessage;
  readonly topic: string;
  readonly partition: number;
  readonly group: string;
  readonly reason: string;
};

/** Resolves when the message is durable on the parking topic; rejects when it is not. */
export type Park = (unreadable: Unreadable) => Promise<void>;

export function parking(
  prefix: string,
  say: (sayings: readonly OutgoingEvent[]) => Promise<void>,
  log: Log,
  counts: Counts,
): Park {
  return async (unreadable) => {
    await say([parked(prefix, unreadable)]);
    counts.parked++;
    const { message, topic, partition, group, reason } = unreadable;
    const bytes = message.value?.length ?? 0;
    log.warn("bus.parked", { topic, partition, offset: message.offset, group, bytes, reason });
  };
}

function parked(prefix: string, unreadable: Unreadable): OutgoingEvent {
  const { message, topic, partition, group, reason } = unreadable;
  const headers: IHeaders = {
    ...message.headers,
    "parked-reason": reason,
    "parked-topic": topic,
    "parked-partition": String(partition),
    "parked-offset": message.offset,
    "parked-group": group,
  };
  return {
    topic: prefix + parkedTopic,
    partition: 0,
    key: message.key,
    value: message.value,
    headers,
  };
}
