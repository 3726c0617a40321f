/** The bus: facts, which must not be lost, and hints, which may be. Only a hint that carries its record carries a body. */
import {
  type AlarmSource,
  type AttemptFact,
  type Configuration,
  type LaneId,
  type MessageId,
} from "@posthaste/domain";
import { type Hint } from "./records.ts";

export type SettledEvent = {
  readonly id: MessageId;
  /** The configuration for the log, redacted and without the body. */
  readonly message: Configuration;
  readonly fact: AttemptFact;
};

/**
 * `at`: the earliest alarm that the publisher has just written. `lane`: the lane to serve now. `source`: of the
 * alarm; a wake of a build that names none is about any source.
 */
export type WakeEvent = { readonly shard: number; readonly at: number } & (
  | { readonly lane: LaneId }
  | { readonly source: AlarmSource | "any" }
);

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
export const isFact = (topic: Topic): boolean => kinds[topic] === "fact";

export type Handler<T extends Topic> = (events: readonly Topics[T][]) => Promise<void>;

export type SubscribeOptions = {
  /**
   * Called with the shards whose events arrive here from now on, each time they change. Meant for `scheduler.wake`, each of whose
   * events goes to one owner (docs/design/record#shards).
   */
  readonly owns?: (shards: readonly number[]) => void;
  /**
   * Called with the partitions whose events arrive here from now on, each time they change, and with none while they are
   * reassigned. For topics whose events are published to a partition.
   */
  readonly assigned?: (partitions: readonly number[]) => void;
  /**
   * The longest time, in milliseconds, for which events may be held back so that many arrive at once. Absent: each arrives as
   * soon as it can.
   */
  readonly gatherMs?: number;
};

export interface EventBus {
  /**
   * Publishes events. Facts are durable once this resolves. A hint may be lost, so no caller waits for one: the bus drops hints
   * that it cannot take at once, and resolves.
   */
  publish<T extends Topic>(topic: T, events: readonly Topics[T][]): Promise<void>;
  /** Subscribes `handle`, which hands events over and returns. Returns a function that ends the subscription. */
  subscribe<T extends Topic>(
    topic: T,
    group: string,
    handle: Handler<T>,
    options?: SubscribeOptions,
  ): Promise<() => Promise<void>>;
  /** Reports whether the bus accepts events now, as far as this process knows. */
  isUp(): boolean;
  /** Returns how many bytes of hints with records the bus would accept now. Beyond that, it drops them as it drops other hints. */
  freeRecordBytes(): number;
  /** Reports whether this process's subscription to `topic` is served, as far as this process knows. */
  hears(topic: Topic): boolean;
}
