/**
 * Hands Kafka's messages to the handler of a subscription, until the handler has taken them.
 *
 * (1) a fact is offered again for as long as the handler fails. If the handler breaks on a fact repeatedly, by an
 *     error that waiting cannot repair, the fact is offered alone and then parked like an unreadable one, so that no
 *     message behind it waits for ever.
 */
import {
  type Clock,
  type Handler,
  isFact,
  type Log,
  pause,
  type Topic,
  type Topics,
} from "@posthaste/ports";
import { type KafkaMessage } from "kafkajs";
import { decode } from "./codec.ts";
import { type Counts } from "./counts.ts";
import { type Park, type Unreadable } from "./parking.ts";
import { headersOf, parentOf, type Trace } from "./trace.ts";

export type HandOverOptions<T extends Topic> = {
  readonly topic: T;
  readonly kafkaTopic: string;
  readonly group: string;
  readonly handle: Handler<T>;
  readonly park: Park;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: Counts;
  readonly trace: Trace | undefined;
};

/** Resolves to true when every message is taken or parked, to false when `signal` came first. Never rejects. */
export type HandOver = (
  messages: readonly KafkaMessage[],
  partition: number,
  signal: AbortSignal,
) => Promise<boolean>;

export function handOver<T extends Topic>(options: HandOverOptions<T>): HandOver {
  return async (messages, partition, signal) => {
    const { traced, unreadable } = sorted(options, messages, partition);
    const taken = await Promise.all([
      ...[...traced].map(([parent, read]) => take(options, read, parent, signal)),
      ...unreadable.map((each) => putAside(options, each, signal)),
    ]);
    return taken.every(Boolean);
  };
}

type Read<E> = { readonly event: E; readonly raw: Omit<Unreadable, "reason"> };
type Sorted<E> = {
  /** The events of each trace: a handler runs inside one. */
  readonly traced: ReadonlyMap<string | undefined, Read<E>[]>;
  readonly unreadable: readonly Unreadable[];
};

function sorted<T extends Topic>(
  { topic, kafkaTopic, group, trace }: HandOverOptions<T>,
  messages: readonly KafkaMessage[],
  partition: number,
): Sorted<Topics[T]> {
  const traced = new Map<string | undefined, Read<Topics[T]>[]>();
  const unreadable: Unreadable[] = [];
  for (const message of messages) {
    const raw = { message, topic: kafkaTopic, partition, group };
    const decoded = decode(topic, message.value);
    if (decoded.kind === "unreadable") {
      unreadable.push({ ...raw, reason: decoded.reason });
      continue;
    }
    const parent = trace && parentOf(message.headers);
    const read = decoded.events.map((event) => ({ event, raw }));
    const others = traced.get(parent);
    if (others) others.push(...read);
    else traced.set(parent, read);
  }
  return { traced, unreadable };
}

/** Offers the events of one trace. A hint is offered once, since its alarm rings. */
async function take<T extends Topic>(
  options: HandOverOptions<T>,
  read: readonly Read<Topics[T]>[],
  parent: string | undefined,
  signal: AbortSignal,
): Promise<boolean> {
  const { topic, group, handle, clock, log, counts, trace } = options;
  const events = read.map(({ event }) => event);
  const handleThem = (): Promise<void> => handle(events);
  const call = async (): Promise<void> =>
    trace && parent !== undefined ? trace.run(headersOf(parent), handleThem) : handleThem();
  let breaks = 0;
  let brokenBy = "";
  const isAgain = (error: unknown, failures: number): boolean => {
    counts.handlerFailures++;
    log.warn("bus.handler_failed", { topic, group, events: events.length, failures, error });
    brokenBy = breakNameOf(error) ?? "";
    breaks = brokenBy === "" ? 0 : breaks + 1;
    return isFact(topic) && breaks < breaksMax;
  };
  const done = await untilDone(call, isAgain, clock, signal);
  if (done) counts.heard += events.length;
  if (done || signal.aborted || !isFact(topic)) return done || !signal.aborted;
  const [only, ...others] = read;
  if (only && others.length === 0)
    return putAside(
      options,
      { ...only.raw, reason: `the handler fails on the event: ${brokenBy}` },
      signal,
    );
  for (const each of read) if (!(await take(options, [each], parent, signal))) return false;
  return true;
}

/**
 * A fact is parked after this many breaks in a row. With the waits between them this takes a second and a half, which
 * bounds how many facts are parked.
 */
const breaksMax = 5;
const breakNames: ReadonlySet<string> = new Set([
  "TypeError",
  "RangeError",
  "SyntaxError",
  "BSONError",
  "RefusedError",
]);

/** Returns the name of an error that shows a bug or a bad fact, and no outage. */
const breakNameOf = (error: unknown): string | undefined =>
  Error.isError(error) && breakNames.has(error.name) ? error.name : undefined;

function putAside<T extends Topic>(
  { park, clock, log, kafkaTopic }: HandOverOptions<T>,
  unreadable: Unreadable,
  signal: AbortSignal,
): Promise<boolean> {
  const isAgain = (error: unknown, failures: number): boolean => {
    log.warn("bus.parking_failed", { topic: kafkaTopic, failures, error });
    return true;
  };
  return untilDone(() => park(unreadable), isAgain, clock, signal);
}

const waitMsMin = 50;
const waitMsMax = 5_000;

/** Repeats the task until it succeeds. `isAgain` is called after each failure, and decides whether to repeat. */
async function untilDone(
  task: () => Promise<void>,
  isAgain: (error: unknown, failures: number) => boolean,
  clock: Clock,
  signal: AbortSignal,
): Promise<boolean> {
  for (let failures = 1; !signal.aborted; failures++) {
    try {
      await task();
      return true;
    } catch (error) {
      if (!isAgain(error, failures)) return false;
    }
    await pause(clock, Math.min(waitMsMin * 2 ** Math.min(failures, 10), waitMsMax), signal);
  }
  return false;
}
