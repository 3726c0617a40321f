/**
 * The connection to the brokers for the events that this process publishes. Owns the producer and the reconnect loop
 * of the sending side. `Outbound` sends through it.
 *
 * (1) a producer that has failed to send is not used again. kafkajs takes back the sequence numbers of a failed send;
 *     if the broker stored it after all, the broker would take the next send of that length for a repetition, and
 *     acknowledge it without storing it.
 * (2) up and down are each logged once per change, and down again when the problem with the topics has changed. A
 *     failed or stalled send, or a failed attempt to connect, means down. A connection that ends, and refused
 *     content, only cause a new connection: brokers close idle connections.
 * (3) each connection counts the partitions. A sign that a topic has another count ends the connection in use, once
 *     the next one has counted anew.
 * (4) for I3: brokers that answer may still accept nothing, for lack of replicas in sync. So after a failed send the link is up
 *     only when the brokers have accepted one message for each of its partitions; such a message is received twice. Its
 *     topics are tried one after the other, so that a missing right is reported with its topic.
 */
import { type Clock, endsWithin, type Log, pause } from "@posthaste/ports";
import { type Producer, type RecordMetadata, type TopicMessages } from "kafkajs";
import { type Client, type ClientOptions, newClient } from "./client.ts";
import { backOffMs } from "./back-off.ts";
import { isTopicsError, type PartitionCounts, topicsError } from "./provision.ts";
import { isRefusal } from "./refusal.ts";
import { missingRight } from "./rights.ts";

export type LinkOptions = {
  readonly client: ClientOptions;
  readonly metadataMs: number;
  /** Makes the topics, or checks them, and counts their partitions. Called for each connection. */
  readonly provision: () => Promise<PartitionCounts>;
  readonly explain: ((error: unknown) => string | undefined) | undefined;
  readonly clock: Clock;
  readonly log: Log;
};

/** Retries by a producer that has lost its connection; the reconnect loop handles longer outages. */
const connectRetries = 1;
/** A connection that worked for less than this is followed by a wait. */
const steadyMs = 5_000;
/** A broker whose partitions are moving asks the client to try again; in all for about two and a half seconds. */
const sendRetries = 5;
const sendRetryMs = 100;
const sendMsMax = 5_000;
const connectMsMax = 20_000;
const disconnectMsMax = 2_000;
const closeMsMax = 5_000;

type Session = {
  readonly client: Client;
  readonly producer: Producer;
  readonly ended: Promise<void>;
  readonly end: () => void;
  sending: number;
  /** A send has failed (1). */
  spent: boolean;
  replaced: boolean;
};

export class Link {
  readonly #options: LinkOptions;
  readonly #closing = new AbortController();
  readonly #whenUp = new Set<() => void>();
  #state: "new" | "up" | "down" = "new";
  #problem = "the brokers have not answered yet";
  #session: Session | undefined;
  #partitions: PartitionCounts | undefined;
  /** Holds one message for each partition of the failed send (4). */
  #trial: TopicMessages[] = [];
  #connecting: Promise<void> | undefined;
  connections = 0;

  constructor(options: LinkOptions) {
    this.#options = options;
  }

  open(): void {
    this.#connecting = this.#stayConnected();
  }

  isUp(): boolean {
    return this.#state === "up" && this.#session?.spent === false;
  }

  problem(): string | undefined {
    return this.isUp() ? undefined : this.#problem;
  }

  partitions(): PartitionCounts | undefined {
    return this.#partitions;
  }

  /** Called when a topic seems to have another count of partitions (3). */
  recount(): void {
    this.#session?.end();
  }

  /** Calls `listener` each time the link comes up. Returns a function that stops this. */
  onUp(listener: () => void): () => void {
    this.#whenUp.add(listener);
    return () => this.#whenUp.delete(listener);
  }

  async untilUp(signal: AbortSignal): Promise<void> {
    if (this.isUp() || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const end = (): void => {
        forget();
        signal.removeEventListener("abort", end);
        resolve();
      };
      const forget = this.onUp(end);
      signal.addEventListener("abort", end);
    });
  }

  /** Resolves once the batch is durable on all replicas in sync. Rejects with kafkajs' error. */
  async send(batch: TopicMessages[]): Promise<void> {
    const session = this.#session;
    if (!session || !this.isUp()) throw new Error("no broker is connected");
    const late = this.#options.clock.after(sendMsMax, () => {
      this.#fail(session, new Error(`a send was not acknowledged within ${sendMsMax} ms`));
      session.client.breakOff();
    });
    session.sending++;
    try {
      for (let rest = batch; rest.length > 0;) {
        const answers = await session.producer.sendBatch({ acks: -1, topicMessages: rest });
        rest = unacknowledged(rest, answers);
      }
    } catch (error) {
      if (!isRefusal(error)) this.#trial = oneOfEach(batch);
      this.#fail(session, saidOfRights(error, batch));
      throw error;
    } finally {
      late();
      session.sending--;
      if (session.replaced && session.sending === 0) void this.#disconnect(session);
    }
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#session?.end();
    if (this.#connecting) await endsWithin(this.#options.clock, closeMsMax, this.#connecting);
    if (this.#session) await this.#disconnect(this.#session);
    this.#state = "down";
  }

  async #stayConnected(): Promise<void> {
    const { clock } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted;) {
      const next = this.#newSession();
      try {
        await this.#connect(next);
      } catch (error) {
        void this.#disconnect(next);
        // The broker has accepted the trial, or refused its content, so it has answered.
        if (isRefusal(error)) this.#trial = [];
        this.#down(error);
        await pause(clock, backOffMs(failures++), signal);
        continue;
      }
      // The close may not have waited for this session, and nothing else would end it.
      if (signal.aborted) return this.#disconnect(next);
      this.#use(next);
      const usedAt = clock.passedMs();
      await next.ended;
      if (clock.passedMs() - usedAt >= steadyMs) failures = 0;
      else await pause(clock, backOffMs(failures++), signal);
    }
  }

  async #connect({ producer }: Session): Promise<void> {
    const { clock, provision } = this.#options;
    const connected = (async () => {
      this.#partitions = await provision();
      await producer.connect().catch(rethrowSaying([]));
      for (const part of this.#trial) {
        const topicMessages = [part];
        await producer.sendBatch({ acks: -1, topicMessages }).catch(rethrowSaying(topicMessages));
        this.#trial = this.#trial.filter((other) => other !== part);
      }
    })();
    const inTime = await endsWithin(clock, connectMsMax, connected);
    if (!inTime) throw new Error(`no connection within ${connectMsMax} ms`);
    await connected;
  }

  #newSession(): Session {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const client = newClient(this.#options.client, connectRetries, () => end());
    const producer = client.kafka.producer({
      idempotent: true,
      allowAutoTopicCreation: false,
      metadataMaxAge: this.#options.metadataMs,
      // Outbound sets the partition of each message.
      createPartitioner:
        () =>
        ({ topic, message, partitionMetadata }) => {
          if (partitionMetadata.length !== this.#partitions?.get(topic)) end();
          return message.partition ?? 0;
        },
      retry: { retries: sendRetries, initialRetryTime: sendRetryMs, maxRetryTime: 1_000 },
    });
    return { client, producer, ended, end, sending: 0, spent: false, replaced: false };
  }

  #use(next: Session): void {
    const last = this.#session;
    this.#session = next;
    if (last) {
      last.replaced = true;
      if (last.sending === 0) void this.#disconnect(last);
    }
    if (this.#state !== "up") {
      this.#state = "up";
      this.connections++;
      const { brokers } = this.#options.client;
      this.#options.log.info("bus.up", { brokers });
    }
    for (const listener of [...this.#whenUp]) listener();
  }

  #fail(session: Session, error: unknown): void {
    session.spent = true;
    session.end();
    if (session === this.#session && !isRefusal(error)) this.#down(error);
  }

  #down(error: unknown): void {
    if (this.#closing.signal.aborted) return;
    const { client, explain, log } = this.#options;
    const message = Error.isError(error) ? error.message : String(error);
    const isOfTopics = isTopicsError(error);
    const problem =
      explain?.(error) ?? (isOfTopics ? message : `the brokers do not answer: ${message}`);
    const isNews = this.#state !== "down" || (isOfTopics && problem !== this.#problem);
    this.#problem = problem;
    if (!isNews) return;
    this.#state = "down";
    log.warn("bus.down", { brokers: client.brokers, reason: problem, error });
  }

  async #disconnect({ producer, client }: Session): Promise<void> {
    await endsWithin(this.#options.clock, disconnectMsMax, producer.disconnect());
    client.breakOff();
  }
}

/** Returns an error with the names of the topics if a right is missing, since brokers and kafkajs give none. */
function saidOfRights(error: unknown, batch: readonly TopicMessages[]): unknown {
  const right = missingRight(error, { to: "write", topics: batch.map(({ topic }) => topic) });
  return right === undefined ? error : topicsError(right, error);
}

const rethrowSaying =
  (batch: readonly TopicMessages[]) =>
  (error: unknown): never => {
    throw saidOfRights(error, batch);
  };

const oneOfEach = (batch: readonly TopicMessages[]): TopicMessages[] =>
  batch.map(({ topic, messages }) => ({
    topic,
    messages: [...new Map(messages.map((message) => [message.partition, message])).values()],
  }));

/**
 * Returns the part of a batch that was not acknowledged. kafkajs asks each broker once for its part of a batch, and
 * leaves out a part that has moved meanwhile to a broker that had answered before: only the partitions in the answers
 * have been stored. In each round at least one partition is stored.
 */
function unacknowledged(
  batch: readonly TopicMessages[],
  answers: readonly RecordMetadata[],
): TopicMessages[] {
  const nameOf = (topic: string, partition: number): string => `${topic}/${partition}`;
  const stored = new Set(answers.map(({ topicName, partition }) => nameOf(topicName, partition)));
  if (stored.size === 0) throw new Error("a send was answered by no broker");
  return batch
    .map(({ topic, messages }) => ({
      topic,
      messages: messages.filter(({ partition = 0 }) => !stored.has(nameOf(topic, partition))),
    }))
    .filter(({ messages }) => messages.length > 0);
}
