/**
 * Events of this process that the brokers have not acknowledged yet. Owns the lines of the partitions. The bus calls
 * `hint` and `fact`.
 *
 * (1) each partition has at most one send under way; events published meanwhile go in the next. kafkajs repeats each
 *     send on its own, so two sends might change their order when a broker is back.
 * (2) a fact leaves its line only when it is acknowledged, refused for its content, or reported to its caller as
 *     failed.
 * (3) everything is bounded: hints by bytes, the newest being dropped, hints with records apart from the rest; facts
 *     by bytes and by the time that a caller waits.
 */
import { type Clock, type Topic } from "@posthaste/ports";
import { type Message, type TopicMessages } from "kafkajs";
import { join } from "./codec.ts";
import { type Counts } from "./counts.ts";
import { type Link } from "./link.ts";
import { isRefusal } from "./refusal.ts";
import { parentOf } from "./trace.ts";

/** An event to send. `topic` is its name at the broker. */
export type OutgoingEvent = {
  readonly topic: string;
  readonly partition: number;
  readonly key: Buffer | string | null;
  readonly value: Buffer | null;
  readonly headers?: NonNullable<Message["headers"]>;
  /**
   * Marks an event of this topic that may share a Kafka message with its neighbours: a hint with its record, for a
   * process of the roster, which can read such messages.
   */
  readonly joins?: Topic;
  /** Marks a hint that says no more than another with the same text: only one of them waits for the partition. */
  readonly once?: string;
};

type Waiter = {
  readonly deadline: number;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
  left: number;
  over: boolean;
};
type Item = {
  readonly saying: OutgoingEvent;
  readonly bytes: number;
  readonly waiter: Waiter | undefined;
  /** Whether the item was in a refused batch, so that it is sent by itself, to find the refused item. */
  readonly alone: boolean;
};
type Kind = "fact" | "hint" | "record";
type Line = {
  readonly topic: string;
  readonly partition: number;
  waiting: Item[];
  /** The `once` texts of items that wait and were in no failed send. */
  readonly said: Set<string>;
  sending: boolean;
};
type Part = { readonly line: Line; readonly items: readonly Item[] };

const hintBytesMax = 8 * 1024 * 1024;
const recordBytesMax = 32 * 1024 * 1024;
const factBytesMax = 64 * 1024 * 1024;
/** The bounds of one partition in one send: the broker accepts a mebibyte at most, and kafkajs copies a batch once per message. */
const batchMax = 256;
const batchBytesMax = 512 * 1024;
/** A reader parses a Kafka message without a pause. */
const joinedBytesMax = 128 * 1024;
const requestBytesMax = 4 * 1024 * 1024;
/** The longest that a fact waits for its acknowledgement; after that its outbox keeps it (docs/design/record#the-outbox). */
export const factMsMax = 10_000;
const lookEveryMs = 500;
/** A generous estimate of what Kafka's envelope adds. */
const overheadBytes = 100;

export class Outbound {
  readonly #link: Pick<Link, "isUp" | "send" | "onUp">;
  readonly #clock: Clock;
  readonly #counts: Counts;
  readonly #lines = new Map<string, Line>();
  /** Lines with something to send and no send under way. */
  readonly #ready = new Set<Line>();
  /** Ordered by age, and so by deadline. */
  readonly #waiters = new Set<Waiter>();
  readonly #bytes: Record<Kind, number> = { fact: 0, hint: 0, record: 0 };
  #flushing = false;
  #idle: PromiseWithResolvers<void> | undefined;
  #looking: (() => void) | undefined;
  #lastFailure: unknown;

  constructor(link: Pick<Link, "isUp" | "send" | "onUp">, clock: Clock, counts: Counts) {
    this.#link = link;
    this.#clock = clock;
    this.#counts = counts;
    link.onUp(() => this.#flushSoon());
  }

  get freeRecordBytes(): number {
    return this.#link.isUp() ? Math.max(0, recordBytesMax - this.#bytes.record) : 0;
  }

  /** Sends hints, and drops those that cannot be accepted at once. */
  hint(sayings: readonly OutgoingEvent[]): void {
    for (const saying of sayings) {
      const isFull =
        saying.joins === undefined
          ? this.#bytes.hint >= hintBytesMax
          : this.#bytes.record >= recordBytesMax;
      if (!this.#link.isUp() || isFull) this.#counts.hintsDropped++;
      else this.#add({ saying, bytes: bytesOf(saying), waiter: undefined, alone: false });
    }
  }

  /** Resolves when all are acknowledged. Rejects after `factMsMax`, or when the broker refuses one. */
  fact(sayings: readonly OutgoingEvent[]): Promise<void> {
    if (sayings.length === 0) return Promise.resolve();
    if (this.#bytes.fact >= factBytesMax)
      return Promise.reject(new Error(`${this.#bytes.fact} bytes of facts wait for the bus`));
    const { promise: told, resolve, reject } = Promise.withResolvers<void>();
    const deadline = this.#clock.passedMs() + factMsMax;
    const waiter = { deadline, resolve, reject, left: sayings.length, over: false };
    this.#waiters.add(waiter);
    this.#look();
    for (const saying of sayings)
      this.#add({ saying, bytes: bytesOf(saying), waiter, alone: false });
    return told;
  }

  /** Resolves when nothing is under way or in line. Facts may have failed by then. */
  async idle(): Promise<void> {
    if (this.#isIdle) return;
    this.#idle ??= Promise.withResolvers<void>();
    await this.#idle.promise;
  }

  close(): void {
    this.#giveUp(Number.POSITIVE_INFINITY, "the bus is closing");
    this.#looking?.();
  }

  #add(item: Item): void {
    const line = this.#lineOf(item.saying);
    const { once } = item.saying;
    if (once !== undefined) {
      if (line.said.has(once)) return;
      line.said.add(once);
    }
    line.waiting.push(item);
    this.#count(item, 1);
    if (!line.sending) this.#ready.add(line);
    this.#flushSoon();
  }

  get #isIdle(): boolean {
    const { fact, hint, record } = this.#bytes;
    return fact + hint + record === 0;
  }

  #count(item: Item, sign: 1 | -1): void {
    this.#bytes[kindOf(item)] += sign * item.bytes;
    if (!this.#isIdle) return;
    this.#idle?.resolve();
    this.#idle = undefined;
  }

  #lineOf({ topic, partition }: OutgoingEvent): Line {
    const name = `${topic}/${partition}`;
    const line = this.#lines.get(name) ?? newLine(topic, partition);
    this.#lines.set(name, line);
    return line;
  }

  /** Sends after the code that runs now, so that events published together are sent together. */
  #flushSoon(): void {
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      while (this.#link.isUp() && this.#ready.size > 0) void this.#send(this.#nextRequest());
    });
  }

  #nextRequest(): readonly Part[] {
    const parts: Part[] = [];
    let bytes = 0;
    for (const line of this.#ready) {
      const alone = line.waiting[0]?.alone ?? false;
      if (alone && parts.length > 0) continue;
      const items = take(line);
      this.#ready.delete(line);
      line.sending = true;
      parts.push({ line, items });
      bytes += items.reduce((sum, item) => sum + item.bytes, 0);
      if (alone || bytes >= requestBytesMax) break;
    }
    return parts;
  }

  async #send(parts: readonly Part[]): Promise<void> {
    try {
      this.#counts.sends++;
      const batch = batchOf(parts);
      await this.#link.send(batch);
      this.#counts.messages += batch.reduce((sum, { messages }) => sum + messages.length, 0);
      for (const { items } of parts) for (const item of items) this.#acknowledged(item);
    } catch (error) {
      this.#lastFailure = error;
      const size = parts.reduce((sum, { items }) => sum + items.length, 0);
      const refused = isRefusal(error);
      for (const { line, items } of parts) {
        if (refused && size === 1) for (const item of items) this.#refused(item, error);
        else line.waiting.unshift(...items.map((item) => ({ ...item, alone: refused })));
      }
      if (!refused) this.#counts.sendFailures++;
    }
    for (const { line } of parts) {
      line.sending = false;
      line.waiting = line.waiting.filter((item) => this.#stillWanted(item));
      if (line.waiting.length > 0) this.#ready.add(line);
    }
    this.#flushSoon();
  }

  #acknowledged(item: Item): void {
    this.#count(item, -1);
    this.#counts.events++;
    const { waiter } = item;
    if (!waiter || waiter.over || --waiter.left > 0) return;
    this.#end(waiter);
    waiter.resolve();
  }

  #refused(item: Item, error: unknown): void {
    this.#count(item, -1);
    this.#counts.refused++;
    const { waiter, saying, bytes } = item;
    if (!waiter || waiter.over) return;
    this.#end(waiter);
    const what = `an event of ${bytes} bytes on ${saying.topic}`;
    waiter.reject(new Error(`the broker refuses ${what}`, { cause: error }));
  }

  #end(waiter: Waiter): void {
    waiter.over = true;
    this.#waiters.delete(waiter);
  }

  /** Arms one timer for all waiting callers, while there are any. */
  #look(): void {
    this.#looking ??= this.#clock.after(lookEveryMs, () => {
      this.#looking = undefined;
      this.#giveUp(this.#clock.passedMs(), `not acknowledged within ${factMsMax} ms`);
      if (this.#waiters.size > 0) this.#look();
    });
  }

  #giveUp(until: number, why: string): void {
    const late: Waiter[] = [];
    for (const waiter of this.#waiters) {
      if (waiter.deadline > until) break;
      late.push(waiter);
    }
    if (late.length === 0) return;
    for (const waiter of late) {
      this.#end(waiter);
      waiter.reject(new Error(`facts: ${why}`, { cause: this.#lastFailure }));
    }
    for (const line of this.#lines.values())
      line.waiting = line.waiting.filter((item) => this.#stillWanted(item));
    for (const line of this.#ready) if (line.waiting.length === 0) this.#ready.delete(line);
  }

  #stillWanted(item: Item): boolean {
    if (!item.waiter?.over) return true;
    this.#count(item, -1);
    return false;
  }
}

const newLine = (topic: string, partition: number): Line => ({
  ...{ topic, partition, sending: false },
  waiting: [],
  said: new Set(),
});

const kindOf = ({ saying, waiter }: Item): Kind =>
  waiter ? "fact" : saying.joins === undefined ? "hint" : "record";

/** Takes items from the front: one that is sent alone, or as many as a batch holds. */
function take(line: Line): readonly Item[] {
  let bytes = 0;
  let count = 0;
  for (const item of line.waiting) {
    const fits = count < batchMax && bytes + item.bytes <= batchBytesMax && !item.alone;
    if (count > 0 && !fits) break;
    bytes += item.bytes;
    count++;
    if (item.alone) break;
  }
  const items = line.waiting.splice(0, count);
  for (const { saying } of items) if (saying.once !== undefined) line.said.delete(saying.once);
  return items;
}

function batchOf(parts: readonly Part[]): TopicMessages[] {
  const byTopic = new Map<string, Message[]>();
  for (const { line, items } of parts) {
    const messages = byTopic.get(line.topic) ?? [];
    byTopic.set(line.topic, messages);
    for (const together of neighbours(items)) messages.push(messageOf(together));
  }
  return [...byTopic].map(([topic, messages]) => ({ topic, messages }));
}

function neighbours(items: readonly Item[]): readonly (readonly OutgoingEvent[])[] {
  const groups: OutgoingEvent[][] = [];
  let bytes = 0;
  for (const { saying, alone, bytes: own } of items) {
    const group = groups.at(-1);
    const fits = !alone && bytes + own <= joinedBytesMax && group?.[0] && mayJoin(group[0], saying);
    if (fits) group.push(saying);
    else groups.push([saying]);
    bytes = fits ? bytes + own : own;
  }
  return groups;
}

/** Reports whether two events may share a message. Events of different traces may not. */
const mayJoin = (a: OutgoingEvent, b: OutgoingEvent): boolean =>
  a.joins !== undefined && a.joins === b.joins && traceOf(a) === traceOf(b);
const traceOf = ({ headers }: OutgoingEvent): unknown => parentOf(headers);

function messageOf(together: readonly OutgoingEvent[]): Message {
  const [first] = together;
  if (!first) throw new Error("a Kafka message of no event");
  const { key, value, partition, headers, joins } = first;
  const common = { partition, ...(headers && { headers }) };
  if (joins === undefined || together.length === 1) return { key, value, ...common };
  const values = together.flatMap((saying) => saying.value ?? []);
  return { key: null, value: join(joins, values), ...common };
}

const bytesOf = ({ key, value, headers }: OutgoingEvent): number =>
  overheadBytes +
  (key?.length ?? 0) +
  (value?.length ?? 0) +
  Object.entries(headers ?? {}).reduce(
    (sum, [name, text]) => sum + name.length + lengthOf(text),
    0,
  );

const lengthOf = (value: NonNullable<Message["headers"]>[string]): number =>
  Array.isArray(value) ? value.reduce((sum, each) => sum + each.length, 0) : (value?.length ?? 0);
