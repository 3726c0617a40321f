/**
 * The bus on Kafka (docs/design/outages#the-bus). The bus opens while the brokers are away, and stays open when they
 * go away: facts wait for them as long as their caller does, hints are dropped, subscriptions continue when the
 * brokers are back.
 */
import { type Clock, endsWithin, type EventBus, isFact, type Log } from "@posthaste/ports";
import { type ClientOptions } from "./client.ts";
import { type Counts, newCounts } from "./counts.ts";
import { Link } from "./link.ts";
import { Outbound } from "./outbound.ts";
import { parking } from "./parking.ts";
import { provision } from "./provision.ts";
import { Publisher } from "./publisher.ts";
import { quietLog } from "./quiet-log.ts";
import { loginOf, type Sasl } from "./security/sasl.ts";
import { secureContextOf, type Tls } from "./security/tls.ts";
import { Subscriptions } from "./subscriptions.ts";
import { topicPlans } from "./topics.ts";
import { type Trace } from "./trace.ts";

export type KafkaBusOptions = {
  readonly brokers: readonly string[];
  /** The beginning of the names of topics and groups: several installations may share a cluster. */
  readonly prefix: string;
  readonly clientId: string;
  /** The number of partitions of a new topic; `scheduler.wake` never gets more than there are shards. */
  readonly partitions?: number;
  /** The number of replicas of a new topic; if absent, the broker's default. */
  readonly replication?: number | undefined;
  /** Whether missing topics are made. Otherwise topics are compared with the plans, and missing ones waited for. Default true. */
  readonly makesTopics?: boolean;
  /** How long facts and parked messages are kept; hints are kept for an hour at most, and those that may carry bodies for five minutes. */
  readonly retentionMs?: number;
  readonly tls?: Tls;
  readonly sasl?: Sasl;
  /** A member without a heartbeat for this long loses its partitions. */
  readonly sessionMs?: number;
  /** How long a broker has for an answer before the request fails. */
  readonly requestMs?: number;
  /** How soon a topic that has grown is noticed. */
  readonly metadataMs?: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Returns what an operator can do about a failure to connect; undefined if the failure says so itself. */
  readonly explain?: (error: unknown) => string | undefined;
  /** Called when only a new process can help; the error says why. */
  readonly fatal: (error: Error) => void;
  readonly trace?: Trace;
};

export type KafkaBus = EventBus & {
  readonly close: () => Promise<void>;
  /** Returns why the bus is not up, or why a subscription receives nothing. */
  readonly problem: () => string | undefined;
  readonly counts: () => Readonly<Counts> & { readonly connections: number };
};

const partitionsDefault = 16;
const retentionMsDefault = 7 * 86_400_000;
const sessionMsDefault = 6_000;
const requestMsDefault = 10_000;
const metadataMsDefault = 60_000;
const closeMsMax = 5_000;

export async function openKafkaBus(options: KafkaBusOptions): Promise<KafkaBus> {
  const { prefix, clock, log, trace, fatal } = options;
  const { partitions = partitionsDefault, replication, makesTopics: makes = true } = options;
  const { metadataMs = metadataMsDefault } = options;
  const plans = topicPlans(prefix, partitions, options.retentionMs ?? retentionMsDefault);
  const client = clientOptions(options);
  const counts = newCounts();
  const link = new Link({
    client,
    clock,
    log,
    metadataMs,
    provision: () => provision({ client, plans, replication, makes }),
    explain: options.explain,
  });
  const outbound = new Outbound(link, clock, counts);
  const closing = new AbortController();
  const publisher = new Publisher({
    prefix,
    link,
    outbound,
    clock,
    log,
    counts,
    trace,
    closing: closing.signal,
  });
  const subscriptions = new Subscriptions({
    prefix,
    client,
    link,
    park: parking(prefix, (sayings) => outbound.fact(sayings), log, counts),
    sessionMs: options.sessionMs ?? sessionMsDefault,
    metadataMs,
    fatal,
    clock,
    log,
    counts,
    trace,
  });
  link.open();

  return {
    publish: async (topic, events) => {
      if (events.length === 0) return;
      if (isFact(topic)) await publisher.facts(topic, events);
      else publisher.hints(topic, events);
    },
    subscribe: (...given) => subscriptions.add(...given),
    isUp: () => link.isUp(),
    problem: () => link.problem() ?? subscriptions.missingRights(),
    freeRecordBytes: () => outbound.freeRecordBytes,
    hears: (topic) => subscriptions.hear(topic),
    counts: () => ({ ...counts, connections: link.connections }),
    close: async () => {
      closing.abort();
      await subscriptions.stop();
      if (link.isUp()) await endsWithin(clock, closeMsMax, outbound.idle());
      outbound.close();
      await link.close();
    },
  };
}

/** Throws on errors that waiting cannot repair, such as missing keys. */
function clientOptions(options: KafkaBusOptions): ClientOptions {
  const { brokers, clientId, tls, sasl, log, clock } = options;
  const secureContext = tls && secureContextOf(tls);
  const login = sasl && loginOf(sasl, clock);
  const { requestMs = requestMsDefault } = options;
  return { brokers, clientId, secureContext, login, requestMs, quiet: quietLog(log, clock) };
}
