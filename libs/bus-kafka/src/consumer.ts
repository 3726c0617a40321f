/**
 * Runs one member of a group on one topic, from its connection until it is stopped or kafkajs gives it up. Owns a kafkajs
 * consumer. The subscription starts another when this one has ended.
 *
 * (1) kafkajs commits nothing by itself: it would wait for each commit before the next fetch (4 to 13 ms). Here a
 *     timer commits the handled offsets, at most one request at a time, and once more when the group rebalances and at
 *     the end.
 * (2) eachBatch only hands over, since the next fetch waits for it.
 */
import { type Clock, endsWithin, type Log } from "@posthaste/ports";
import { type Cluster, type Consumer as KafkaConsumer, PartitionAssigners } from "kafkajs";
import { Assignment, type Position } from "./assignment.ts";
import { type Client, type ClientOptions, newClient } from "./client.ts";
import { type Counts } from "./counts.ts";
import { type HandOver } from "./hand-over.ts";
import { hearingOfPlaces } from "./quiet-log.ts";

export type ConsumerOptions = {
  readonly client: ClientOptions;
  readonly topic: string;
  readonly group: string;
  readonly sessionMs: number;
  /** The number of partitions when the topic was last counted: at most this many are handled at once. */
  readonly partitionCount: number;
  /** The greatest age of the member's metadata. A topic that has grown makes the group join anew. */
  readonly metadataMs: number;
  /** How long a fetch waits to gather many messages. If absent, a fetch returns with the first message. */
  readonly gatherMs: number | undefined;
  readonly handOver: HandOver;
  /** Called when a broker has removed messages of this partition that were to be handled next. */
  readonly placeGone: (partition: number) => void;
  /** Called after a join. `countPartitions` counts those of the topic, as the brokers report them for this join. */
  readonly joined: (partitions: readonly number[], countPartitions: () => Promise<number>) => void;
  readonly rebalancing: () => void;
  readonly alive: () => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly counts: Counts;
};

/**
 * kafkajs bridges an outage of some seconds itself, which keeps the membership: a new member waits until the group
 * removes the old one. After that the subscription's own loop connects anew.
 */
const connectionRetries = 10;
const groupRetries = 5;
const commitEveryMs = 250;
const heartbeatMs = 300;
/** How long a fetch waits at the broker when there is no message. This bounds resume and shutdown, not latency. */
const fetchWaitMs = 150;
const gatheredBytes = 256 * 1024;
const fetchBytesMax = 4 * 1024 * 1024;
const partitionBytesMax = 256 * 1024;
/** The longest that a rebalance waits for a member that is alive. */
const rebalanceMs = 15_000;
const handlersMsMax = 5_000;
/** The time for the last commit, and for leaving. It is short, since a broker that does not answer is not waited for. */
const farewellMsMax = 5_000;
const deafFarewellMsMax = 500;

export class Consumer {
  readonly #options: ConsumerOptions;
  readonly #client: Client;
  readonly #kafka: KafkaConsumer;
  readonly #assignment: Assignment;
  readonly #ended = Promise.withResolvers<unknown>();
  #cluster: Cluster | undefined;
  #cancelCommit: (() => void) | undefined;
  #committing: Promise<void> | undefined;
  #stopping = false;
  #farewellMs = farewellMsMax;

  constructor(options: ConsumerOptions) {
    this.#options = options;
    const quiet = hearingOfPlaces(options.client.quiet, options.placeGone);
    this.#client = newClient({ ...options.client, quiet }, connectionRetries);
    this.#kafka = this.#client.kafka.consumer({
      groupId: options.group,
      sessionTimeout: options.sessionMs,
      heartbeatInterval: heartbeatMs,
      rebalanceTimeout: Math.max(rebalanceMs, options.sessionMs),
      metadataMaxAge: options.metadataMs,
      partitionAssigners: [
        (config) => {
          this.#cluster = config.cluster;
          return PartitionAssigners.roundRobin(config);
        },
      ],
      maxWaitTimeInMs: options.gatherMs ?? fetchWaitMs,
      minBytes: options.gatherMs === undefined ? 1 : gatheredBytes,
      maxBytes: fetchBytesMax,
      maxBytesPerPartition: partitionBytesMax,
      allowAutoTopicCreation: false,
      retry: {
        retries: groupRetries,
        initialRetryTime: 100,
        maxRetryTime: 1_000,
        restartOnFailure: async () => false,
      },
    });
    this.#assignment = this.#newAssignment();
  }

  /** Resolves when the consumer has ended, with the reason unless it was stopped. */
  async run(): Promise<unknown> {
    this.#listen();
    this.#start().catch((error: unknown) => this.#ended.resolve(error));
    const reason = await this.#ended.promise;
    await this.#leave();
    return reason;
  }

  /** Hands no further message over, commits the handled offsets, leaves the group. `hears`: whether the brokers answer. */
  async stop(hears: boolean): Promise<void> {
    this.#stopping = true;
    if (!hears) this.#farewellMs = deafFarewellMsMax;
    await this.#assignment.end(this.#options.clock, handlersMsMax);
    await endsWithin(this.#options.clock, this.#farewellMs, this.#commit());
    this.#ended.resolve(undefined);
  }

  async #start(): Promise<void> {
    const { topic, partitionCount } = this.#options;
    await this.#kafka.connect();
    // A group without a commit has handled nothing: events published before its first member joined are still to be handled.
    await this.#kafka.subscribe({ topic, fromBeginning: true });
    await this.#kafka.run({
      autoCommit: false,
      partitionsConsumedConcurrently: partitionCount,
      eachBatch: async ({ batch }) =>
        this.#assignment.take(batch.partition, batch.messages, batch.lastOffset()),
    });
  }

  #listen(): void {
    const { topic, alive, joined, rebalancing, counts } = this.#options;
    const { events } = this.#kafka;
    this.#kafka.on(events.FETCH, alive);
    this.#kafka.on(events.HEARTBEAT, alive);
    this.#kafka.on(events.REBALANCING, () => {
      counts.rebalances++;
      rebalancing();
      void this.#commit();
    });
    this.#kafka.on(events.GROUP_JOIN, ({ payload }) => {
      const partitions = payload.memberAssignment[topic] ?? [];
      if (this.#stopping) return;
      this.#assignment.given(partitions);
      joined(partitions, () => this.#countPartitions());
    });
    this.#kafka.on(events.CRASH, ({ payload }) => this.#ended.resolve(payload.error));
  }

  /**
   * Returns at least as many partitions as the leader counted when it assigned them: kafkajs compares this count with
   * that of the join, and joins anew when the topic has grown.
   */
  async #countPartitions(): Promise<number> {
    const { topic, group, partitionCount, log } = this.#options;
    try {
      await this.#cluster?.refreshMetadata();
    } catch (error) {
      log.debug("bus.count_failed", { topic, group, error });
    }
    const known = this.#cluster?.findTopicPartitionMetadata(topic).length ?? 0;
    return known > 0 ? known : partitionCount;
  }

  #newAssignment(): Assignment {
    const { topic, handOver, counts } = this.#options;
    return new Assignment({
      handOver,
      pause: (partition) => {
        counts.pauses++;
        this.#kafka.pause([{ topic, partitions: [partition] }]);
      },
      resume: (partition) => this.#resume(partition),
      progressed: () => this.#commitSoon(),
    });
  }

  #resume(partition: number): void {
    try {
      this.#kafka.resume([{ topic: this.#options.topic, partitions: [partition] }]);
    } catch {
      // The consumer has just ended, and has not reported it yet. The next one starts without a pause.
    }
  }

  #commitSoon(): void {
    if (this.#stopping) return;
    this.#cancelCommit ??= this.#options.clock.after(commitEveryMs, () => {
      this.#cancelCommit = undefined;
      void this.#commit();
    });
  }

  /** Commits, if possible: messages that are not committed are handled again. */
  async #commit(): Promise<void> {
    await this.#committing;
    const positions = this.#assignment.uncommitted();
    if (positions.length === 0) return;
    this.#committing = this.#say(positions).then((done) => {
      this.#committing = undefined;
      if (done) this.#assignment.committed(positions);
      else this.#commitSoon();
    });
    await this.#committing;
  }

  async #say(positions: readonly Position[]): Promise<boolean> {
    const { topic, group, log, counts } = this.#options;
    try {
      await this.#kafka.commitOffsets(positions.map((position) => ({ topic, ...position })));
      counts.commits++;
      return true;
    } catch (error) {
      log.debug("bus.commit_failed", { topic, group, error });
      return false;
    }
  }

  async #leave(): Promise<void> {
    this.#stopping = true;
    this.#cancelCommit?.();
    void this.#assignment.end(this.#options.clock, 0);
    await endsWithin(this.#options.clock, this.#farewellMs, this.#kafka.disconnect());
    this.#client.breakOff();
  }
}
