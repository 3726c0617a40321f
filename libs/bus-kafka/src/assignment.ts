/**
 * The partitions that one generation of a group has given to this member, and how far each has been heard.
 *
 * Owned by one consumer; another generation gets another assignment, and what this one still has in hand is heard again
 * by whoever owns the partition then.
 * I1: of each partition one call of the handler is under way; what has come meanwhile goes in the next. So what has been
 *     heard has no gaps, and its end is what may be committed.
 * I2: more than `eventsMax` messages or `bytesMax` bytes in hand pause the partition.
 */
import { type KafkaMessage } from "kafkajs";
import { endsWithin } from "./pause.ts";
import { type Clock } from "@posthaste/ports";
import { type HandOver } from "./hand-over.ts";

export type AssignmentOptions = {
  readonly partitions: readonly number[];
  readonly handOver: HandOver;
  readonly pause: (partition: number) => void;
  readonly resume: (partition: number) => void;
  /** There is something to commit. */
  readonly progressed: () => void;
};

/** `offset`: of the next message to hear. */
export type Position = { readonly partition: number; readonly offset: string };

const eventsMax = 1_000;
const bytesMax = 4 * 1024 * 1024;

type Progress = {
  readonly partition: number;
  waiting: KafkaMessage[];
  /** In hand: waiting, and with the handler. */
  events: number;
  bytes: number;
  paused: boolean;
  /** The offset after the last that has come, that has been heard, that is committed. */
  come: string | undefined;
  heard: string | undefined;
  committed: string | undefined;
  working: Promise<void> | undefined;
};

export class Assignment {
  readonly #options: AssignmentOptions;
  readonly #over = new AbortController();
  readonly #progress: ReadonlyMap<number, Progress>;

  constructor(options: AssignmentOptions) {
    this.#options = options;
    this.#progress = new Map(options.partitions.map((partition) => [partition, fresh(partition)]));
  }

  /** `lastOffset`: of the last that was fetched, which may be beyond the last message. */
  take(partition: number, messages: readonly KafkaMessage[], lastOffset: string): void {
    const progress = this.#progress.get(partition);
    if (!progress || this.#over.signal.aborted) return;
    progress.waiting.push(...messages);
    progress.events += messages.length;
    progress.bytes += bytesOf(messages);
    progress.come = String(BigInt(lastOffset) + 1n);
    if (!progress.paused && isFull(progress)) {
      progress.paused = true;
      this.#options.pause(partition);
    }
    progress.working ??= this.#work(progress).finally(() => {
      progress.working = undefined;
    });
  }

  uncommitted(): readonly Position[] {
    return [...this.#progress.values()].flatMap(({ partition, heard, committed }) =>
      heard !== undefined && heard !== committed ? [{ partition, offset: heard }] : [],
    );
  }

  committed(positions: readonly Position[]): void {
    for (const { partition, offset } of positions) {
      const progress = this.#progress.get(partition);
      if (progress) progress.committed = offset;
    }
  }

  /** Hands nothing more over. Resolves when the calls under way have ended, after `msMax` at the latest. */
  async end(clock: Clock, msMax: number): Promise<void> {
    this.#over.abort();
    const working = [...this.#progress.values()].flatMap(({ working }) => working ?? []);
    await endsWithin(clock, msMax, Promise.all(working));
  }

  async #work(progress: Progress): Promise<void> {
    const { signal } = this.#over;
    while (progress.waiting.length > 0 && !signal.aborted) {
      const messages = progress.waiting.splice(0);
      const { come } = progress;
      const taken = await this.#options.handOver(messages, progress.partition, signal);
      if (!taken) return;
      progress.heard = come;
      progress.events -= messages.length;
      progress.bytes -= bytesOf(messages);
      this.#options.progressed();
      if (progress.paused && !isFull(progress) && !signal.aborted) {
        progress.paused = false;
        this.#options.resume(progress.partition);
      }
    }
  }
}

const fresh = (partition: number): Progress => ({
  partition,
  waiting: [],
  events: 0,
  bytes: 0,
  paused: false,
  come: undefined,
  heard: undefined,
  committed: undefined,
  working: undefined,
});

const isFull = ({ events, bytes }: Progress): boolean => events >= eventsMax || bytes >= bytesMax;

const bytesOf = (messages: readonly KafkaMessage[]): number =>
  messages.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
