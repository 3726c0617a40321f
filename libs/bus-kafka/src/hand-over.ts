/** From Kafka's messages to the handler of a subscription, until it has taken them. */
import { type Clock, type Handler, type Log, type Topic, type Topics } from "@posthaste/ports";
import { type KafkaMessage } from "kafkajs";
import { decode } from "./codec.ts";
import { type Counts } from "./counts.ts";
import { type Park, type Unreadable } from "./parking.ts";
import { pause } from "./pause.ts";
import { isFact } from "./topics.ts";
import { headersOf, parentOf, type Trace } from "./trace.ts";

export type HandOverOptions<T extends Topic> = {
  readonly topic: T;
  /** As the broker names them. */
  readonly kafkaTopic: string;
  readonly group: string;
  readonly handle: Handler<T>;
  readonly park: Park;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: Counts;
  readonly trace: Trace | undefined;
};

/** Resolves true when every message is taken or parked, false when `signal` came first. Never rejects. */
export type HandOver = (
  messages: readonly KafkaMessage[],
  partition: number,
  signal: AbortSignal,
) => Promise<boolean>;

export function handOver<T extends Topic>(options: HandOverOptions<T>): HandOver {
  return async (messages, partition, signal) => {
    const { traced, unreadable } = sorted(options, messages, partition);
    const taken = await Promise.all([
      ...[...traced].map(([parent, events]) => take(options, events, parent, signal)),
      ...unreadable.map((each) => putAside(options, each, signal)),
    ]);
    return taken.every(Boolean);
  };
}

type Sorted<E> = {
  /** By the trace that they belong to: a handler runs inside one. */
  readonly traced: ReadonlyMap<string | undefined, E[]>;
  readonly unreadable: readonly Unreadable[];
};

function sorted<T extends Topic>(
  { topic, kafkaTopic, group, trace }: HandOverOptions<T>,
  messages: readonly KafkaMessage[],
  partition: number,
): Sorted<Topics[T]> {
  const traced = new Map<string | undefined, Topics[T][]>();
  const unreadable: Unreadable[] = [];
  for (const message of messages) {
    const decoded = decode(topic, message.value);
    if (decoded.kind === "unreadable") {
      unreadable.push({ message, topic: kafkaTopic, partition, group, reason: decoded.reason });
      continue;
    }
    const parent = trace && parentOf(message.headers);
    const events = traced.get(parent);
    if (events) events.push(decoded.event);
    else traced.set(parent, [decoded.event]);
  }
  return { traced, unreadable };
}

/** A hint is offered once: its alarm rings. */
async function take<T extends Topic>(
  { topic, group, handle, clock, log, counts, trace }: HandOverOptions<T>,
  events: readonly Topics[T][],
  parent: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const handleThem = (): Promise<void> => handle(events);
  const call = async (): Promise<void> =>
    trace && parent !== undefined ? trace.run(headersOf(parent), handleThem) : handleThem();
  const failed = (error: unknown, failures: number): void => {
    counts.handlerFailures++;
    log.warn("bus.handler_failed", { topic, group, events: events.length, failures, error });
  };
  const done = await untilDone(call, failed, isFact(topic), clock, signal);
  if (done) counts.heard += events.length;
  return done || (!isFact(topic) && !signal.aborted);
}

function putAside<T extends Topic>(
  { park, clock, log, kafkaTopic }: HandOverOptions<T>,
  unreadable: Unreadable,
  signal: AbortSignal,
): Promise<boolean> {
  const failed = (error: unknown, failures: number): void =>
    log.warn("bus.parking_failed", { topic: kafkaTopic, failures, error });
  return untilDone(() => park(unreadable), failed, true, clock, signal);
}

const waitMsMin = 50;
const waitMsMax = 5_000;

async function untilDone(
  task: () => Promise<void>,
  failed: (error: unknown, failures: number) => void,
  again: boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      await task();
      return true;
    } catch (error) {
      failed(error, failures);
    }
    if (!again) return false;
    await pause(clock, Math.min(waitMsMin * 2 ** Math.min(failures, 10), waitMsMax), signal);
  }
  return false;
}
