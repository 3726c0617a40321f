/**
 * The event bus of one process: publishing calls the handlers. Facts are awaited and tried again. Hints are handed over and may fail,
 * since the alarm rings (docs/design/outages#the-bus). Each group receives every event; the handlers of one group share them.
 */
import { allShards } from "@posthaste/domain";
import {
  type Clock,
  type EventBus,
  type Handler,
  isFact,
  type Log,
  pause,
  type Topic,
  type Topics,
} from "@posthaste/ports";

/** The number of tries to publish a fact. The wait between them doubles. After the last, publishing fails and the outbox item stays. */
const attemptsMax = 5;
const firstWaitMs = 50;

type Groups<T extends Topic> = Map<string, { readonly handlers: Handler<T>[]; next: number }>;
type Subscriptions = { [T in Topic]: Groups<T> };

export function openBus(clock: Clock, log: Log): EventBus {
  const subscriptions: Subscriptions = {
    "message.accepted": new Map(),
    "message.due": new Map(),
    "message.settled": new Map(),
    "scheduler.wake": new Map(),
  };
  const groupsOf = <T extends Topic>(topic: T): Groups<T> => subscriptions[topic];

  const tell = async <T extends Topic>(
    topic: T,
    group: string,
    events: readonly Topics[T][],
  ): Promise<void> => {
    const members = groupsOf(topic).get(group);
    const handle = members?.handlers[members.next++ % members.handlers.length];
    if (handle) await handle(events);
  };

  const tellUntilHeard = async <T extends Topic>(
    topic: T,
    group: string,
    events: readonly Topics[T][],
  ): Promise<void> => {
    for (let attempt = 1; ; attempt++) {
      try {
        return await tell(topic, group, events);
      } catch (error) {
        log.warn("bus.handler_failed", { topic, group, attempt, error });
        if (attempt >= attemptsMax) throw error;
      }
      await pause(clock, firstWaitMs * 2 ** (attempt - 1));
    }
  };

  const tellOnce = <T extends Topic>(
    topic: T,
    group: string,
    events: readonly Topics[T][],
  ): void => {
    tell(topic, group, events).catch((error: unknown) => {
      log.warn("bus.hint_lost", { topic, group, events: events.length, error });
    });
  };

  return {
    publish: async (topic, events) => {
      const groups = [...groupsOf(topic).keys()];
      if (events.length === 0) return;
      if (!isFact(topic)) for (const group of groups) tellOnce(topic, group, events);
      else await Promise.all(groups.map((group) => tellUntilHeard(topic, group, events)));
    },
    isUp: () => true,
    freeRecordBytes: () => Number.POSITIVE_INFINITY,
    hears: () => true,
    subscribe: async (topic, group, handle, { owns } = {}) => {
      const groups = groupsOf(topic);
      const members = groups.get(group) ?? { handlers: [], next: 0 };
      groups.set(group, members);
      members.handlers.push(handle);
      owns?.(allShards);
      return async () => {
        const at = members.handlers.indexOf(handle);
        if (at >= 0) members.handlers.splice(at, 1);
        if (members.handlers.length === 0) groups.delete(group);
      };
    },
  };
}
