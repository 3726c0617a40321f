/** The bus: facts (must not be lost) and hints (may be). Bodies travel only with a hint that has the record. */
import {
  type AttemptFact,
  type Configuration,
  type LaneId,
  type MessageId,
} from "@posthaste/domain";
import { type Hint } from "./records.ts";

export type SettledEvent = {
  readonly id: MessageId;
  /** The configuration for the log; redacted, without the body. */
  readonly message: Configuration;
  readonly fact: AttemptFact;
};

/** `at`: the earliest alarm that the sayer has just written. */
export type WakeEvent = { readonly shard: number; readonly at: number; readonly lane?: LaneId };

export type Topics = {
  "message.accepted": { readonly message: Configuration };
  "message.due": Hint;
  "message.settled": SettledEvent;
  "scheduler.wake": WakeEvent;
};
export type Topic = keyof Topics;

const kinds: Readonly<Record<Topic, "hint" | "fact">> = {
  "message.accepted": "hint",
  "message.due": "hint",
  "message.settled": "fact",
  "scheduler.wake": "hint",
};
export const topics = Object.keys(kinds) as readonly Topic[];
/** Must not be lost. */
export const isFact = (topic: Topic): boolean => kinds[topic] === "fact";

export type Handler<T extends Topic> = (events: readonly Topics[T][]) => Promise<void>;

export type SubscribeOptions = {
  /**
   * Hears which shards' events come here from now on, each time that changes; meant for `scheduler.wake`, whose events go
   * to one owner each (docs/design/record#shards).
   */
  readonly owns?: (shards: readonly number[]) => void;
  /**
   * Hears which partitions come here from now on, each time that changes, and that none may while they are given anew; for
   * topics that are said to a partition.
   */
  readonly assigned?: (partitions: readonly number[]) => void;
  /** Events may be kept back for so long, so that many come at once. Absent: each comes as soon as it can. */
  readonly gatherMs?: number;
};

export interface EventBus {
  /**
   * Facts are durable once this resolves. A hint may be lost, so no caller waits for one: what the bus cannot take at once
   * it drops, and resolves.
   */
  publish<T extends Topic>(topic: T, events: readonly Topics[T][]): Promise<void>;
  /** Handlers hand over and return. Answers how to stop. */
  subscribe<T extends Topic>(
    topic: T,
    group: string,
    handle: Handler<T>,
    options?: SubscribeOptions,
  ): Promise<() => Promise<void>>;
  /** Whether what is said now is taken, as far as this process knows. */
  isUp(): boolean;
  /** So many bytes of hints that have their records would be taken now; beyond it they are dropped as other hints are. */
  roomForRecords(): number;
  /** Whether this process' subscription to `topic` is served, as far as it knows. */
  hears(topic: Topic): boolean;
}
