/**
 * The partitions that a group has assigned to this member, and how far each has been handled. Owned by one consumer,
 * for all generations of its group. When a partition moves, its next owner receives the messages again that this member
 * has not finished.
 *
 * (1) each partition has one call of the handler under way; messages that come meanwhile go in the next. So the
 *     handled messages have no gaps, and the offset after them may be committed.
 * (2) a partition pauses when more than `eventsMax` of its messages, or more than its share of `bytesMax`, are in
 *     hand. So all messages in hand are bounded, however many partitions there are, with one more fetch.
 * (3) a partition that stays with this member over a join keeps its messages in hand. The client begins anew at the
 *     committed offset; messages in hand that come again are not taken twice.
 */
import { type KafkaMessage } from "kafkajs";
import { type Clock, endsWithin } from "@posthaste/ports";
import { type HandOver } from "./hand-over.ts";

export type AssignmentOptions = {
  readonly handOver: HandOver;
  readonly pause: (partition: number) => void;
  readonly resume: (partition: number) => void;
  /** Called when there is something to commit. */
  readonly progressed: () => void;
};

export type Position = { readonly partition: number; readonly offset: string };

const eventsMax = 1_000;
/** For all partitions together: decoded, the messages are several times as large. */
const bytesMax = 16 * 1024 * 1024;

type Progress = {
  readonly partition: number;
  /** Aborts when the partition is taken away. */
  readonly over: AbortController;
  waiting: KafkaMessage[];
  /** The number of messages in hand: waiting, and with the handler. */
  events: number;
  bytes: number;
  paused: boolean;
  /** The first offset that has come, and the one after the last: every message between them has been handled or is in hand. */
  began: bigint | undefined;
  come: bigint;
  /** The offset after the last handled message, and after the last committed one. */
  heard: bigint | undefined;
  committed: bigint | undefined;
  working: Promise<void> | undefined;
};

export class Assignment {
  readonly #options: AssignmentOptions;
  readonly #progress = new Map<number, Progress>();

  constructor(options: AssignmentOptions) {
    this.#options = options;
  }

  given(partitions: readonly number[]): void {
    for (const [partition, { over }] of this.#progress) {
      if (partitions.includes(partition)) continue;
      over.abort();
      this.#progress.delete(partition);
    }
    for (const partition of partitions) {
      if (this.#progress.has(partition)) continue;
      this.#progress.set(partition, fresh(partition));
      // The partition may have been paused under an earlier assignment: a pause outlives a join.
      this.#options.resume(partition);
    }
  }

  /** `lastOffset`: the last offset fetched, which may be beyond the last message. */
  take(partition: number, fetched: readonly KafkaMessage[], lastOffset: string): void {
    const progress = this.#progress.get(partition);
    const [first] = fetched;
    if (!progress || !first || progress.over.signal.aborted) return;
    const from = BigInt(first.offset);
    const come = BigInt(lastOffset) + 1n;
    const isRepeated = from < progress.come && from >= (progress.committed ?? progress.began ?? 0n);
    if (isRepeated && come <= progress.come) return;
    const messages = isRepeated
      ? fetched.filter(({ offset }) => BigInt(offset) >= progress.come)
      : fetched;
    progress.began ??= from;
    progress.come = come;
    progress.waiting.push(...messages);
    progress.events += messages.length;
    progress.bytes += bytesOf(messages);
    if (!progress.paused && this.#isFull(progress)) {
      progress.paused = true;
      this.#options.pause(partition);
    }
    progress.working ??= this.#work(progress).finally(() => {
      progress.working = undefined;
    });
  }

  uncommitted(): readonly Position[] {
    return [...this.#progress.values()].flatMap(({ partition, heard, committed }) =>
      heard !== undefined && heard !== committed ? [{ partition, offset: String(heard) }] : [],
    );
  }

  committed(positions: readonly Position[]): void {
    for (const { partition, offset } of positions) {
      const progress = this.#progress.get(partition);
      if (progress) progress.committed = BigInt(offset);
    }
  }

  /** Hands no further message over. Resolves when the calls under way have ended, after `msMax` at the latest. */
  async end(clock: Clock, msMax: number): Promise<void> {
    const all = [...this.#progress.values()];
    for (const { over } of all) over.abort();
    await endsWithin(clock, msMax, Promise.all(all.flatMap(({ working }) => working ?? [])));
  }

  #isFull({ events, bytes }: Progress): boolean {
    return events >= eventsMax || bytes >= bytesMax / this.#progress.size;
  }

  async #work(progress: Progress): Promise<void> {
    const { signal } = progress.over;
    while (progress.waiting.length > 0 && !signal.aborted) {
      const messages = progress.waiting.splice(0);
      const { come } = progress;
      const taken = await this.#options.handOver(messages, progress.partition, signal);
      if (!taken) return;
      progress.heard = come;
      progress.events -= messages.length;
      progress.bytes -= bytesOf(messages);
      this.#options.progressed();
      if (progress.paused && !this.#isFull(progress) && !signal.aborted) {
        progress.paused = false;
        this.#options.resume(progress.partition);
      }
    }
  }
}

const fresh = (partition: number): Progress => ({
  partition,
  over: new AbortController(),
  waiting: [],
  events: 0,
  bytes: 0,
  paused: false,
  began: undefined,
  come: 0n,
  heard: undefined,
  committed: undefined,
  working: undefined,
});

const bytesOf = (messages: readonly KafkaMessage[]): number =>
  messages.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
