/** Makes missing topics, or checks topics that were made by hand; counts their partitions. */
import { type Admin } from "kafkajs";
import { type ClientOptions, newClient } from "./client.ts";
import { errorTypesOf } from "./refusal.ts";
import { missingRight } from "./rights.ts";
import { type FoundTopic, wrongWith } from "./topic-check.ts";
import { settingsOf, type TopicPlan } from "./topics.ts";

export type PartitionCounts = ReadonlyMap<string, number>;

/** Returns an error for an operator: the brokers answer, but topics or rights are wrong. */
export const topicsError = (message: string, cause?: unknown): Error =>
  Object.assign(new Error(message, { cause }), { name: ofTopics });

export const isTopicsError = (error: unknown): boolean =>
  Error.isError(error) && error.name === ofTopics;
const ofTopics = "TopicsError";

export type ProvisionOptions = {
  readonly client: ClientOptions;
  readonly plans: readonly TopicPlan[];
  /** The number of replicas of a new topic; if absent, the broker's default. */
  readonly replication: number | undefined;
  /** Whether topics are made. Otherwise they are made by hand, and compared with the plans. */
  readonly makes: boolean;
};

const retries = 2;
const theBrokersDefault = -1;
/** The number in the protocol: kafkajs' own name cannot be imported. */
const topicResource = 2;

/** Throws a `topicsError` that names each unsuitable topic, and why. */
export const provision = ({
  client,
  plans,
  replication,
  makes,
}: ProvisionOptions): Promise<PartitionCounts> =>
  asAdmin(client, (admin) => (makes ? made(admin, plans, replication) : looked(admin, plans)));

/** Reports whether a broker answers a request that does not concern groups: the one for its versions. */
export const answers = (client: ClientOptions): Promise<boolean> =>
  asAdmin(client, async () => true).catch(() => false);

async function asAdmin<R>(client: ClientOptions, task: (admin: Admin) => Promise<R>): Promise<R> {
  const { kafka, breakOff } = newClient(client, retries);
  const admin = kafka.admin();
  try {
    await admin.connect();
    return await task(admin);
  } finally {
    await admin.disconnect().catch(() => undefined);
    breakOff();
  }
}

/**
 * A topic with fewer partitions than planned gets more, if this process may; a topic with more keeps them
 * (docs/design/record#shards). Settings are given when a topic is made; afterwards they are the operator's.
 */
async function made(
  admin: Admin,
  plans: readonly TopicPlan[],
  replication: number | undefined,
): Promise<PartitionCounts> {
  const found = countsOf(await replicasOf(admin, plans));
  const missing = plans.filter(({ name }) => !found.has(name));
  const growing = plans.filter(
    ({ name, partitions }) => (found.get(name) ?? partitions) < partitions,
  );
  if (missing.length === 0 && growing.length === 0) return found;
  await create(admin, missing, replication);
  await grow(admin, growing).catch(() => undefined);
  const counts = countsOf(await replicasOf(admin, plans));
  const absent = plans.filter(({ name }) => !counts.has(name)).map(({ name }) => name);
  if (absent.length > 0) throw new Error(`the broker has no topic ${absent.join(", ")} yet`);
  return counts;
}

async function looked(admin: Admin, plans: readonly TopicPlan[]): Promise<PartitionCounts> {
  const there = await replicasOf(admin, plans);
  const wrong: string[] = [];
  for (const plan of plans) wrong.push(...wrongWith(plan, await foundAs(admin, plan.name, there)));
  if (wrong.length > 0) throw topicsError(wrong.join("; "));
  return countsOf(there);
}

type Replicas = ReadonlyMap<string, readonly number[]>;

const countsOf = (replicas: Replicas): PartitionCounts =>
  new Map([...replicas].map(([name, partitions]) => [name, partitions.length]));

/** Lists topics first: a request for a missing topic would be an error, or make it. */
async function replicasOf(admin: Admin, plans: readonly TopicPlan[]): Promise<Replicas> {
  const there = new Set(await admin.listTopics());
  const wanted = plans.map(({ name }) => name).filter((name) => there.has(name));
  if (wanted.length === 0) return new Map();
  const { topics } = await admin.fetchTopicMetadata({ topics: wanted });
  return new Map(
    topics.map(({ name, partitions }) => [name, partitions.map(({ replicas }) => replicas.length)]),
  );
}

/** Asking for settings tells a missing topic from one that this process may not describe, which the list of topics also leaves out. */
async function foundAs(
  admin: Admin,
  name: string,
  there: Replicas,
): Promise<FoundTopic | "missing" | "hidden"> {
  const replicas = there.get(name);
  try {
    const resource = { type: topicResource, name };
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: [resource],
    });
    if (replicas === undefined) return "hidden";
    const entries = resources.flatMap(({ configEntries }) => configEntries);
    const settings = new Map(
      entries.map(({ configName, configValue }) => [configName, configValue]),
    );
    return { partitions: replicas.length, replicas: Math.min(...replicas), settings };
  } catch (error) {
    const types = errorTypesOf(error);
    if (types.includes("UNKNOWN_TOPIC_OR_PARTITION")) return "missing";
    if (!types.includes("TOPIC_AUTHORIZATION_FAILED")) throw error;
    if (replicas === undefined) return "hidden";
    return {
      partitions: replicas.length,
      replicas: Math.min(...replicas),
      settings: undefined,
    };
  }
}

async function create(
  admin: Admin,
  plans: readonly TopicPlan[],
  replication: number | undefined,
): Promise<void> {
  if (plans.length === 0) return;
  const topics = plans.map((plan) => ({
    topic: plan.name,
    numPartitions: plan.partitions,
    replicationFactor: replication ?? theBrokersDefault,
    configEntries: Object.entries({
      ...settingsOf(plan),
      ...(replication !== undefined && { "min.insync.replicas": inSyncOf(replication) }),
    }).map(([name, value]) => ({ name, value })),
  }));
  try {
    // False when another process was faster.
    await admin.createTopics({ waitForLeaders: true, topics });
  } catch (error) {
    const names = plans.map(({ name }) => name);
    throw topicsError(`cannot make the topics: ${reasonsOf(error, names).join("; ")}`, error);
  }
}

/** One broker may be away. */
const inSyncOf = (replication: number): string => String(Math.max(1, Math.min(2, replication - 1)));

/** Returns the reasons by topic: for several topics kafkajs says only that there were errors. */
function reasonsOf(error: unknown, names: readonly string[]): readonly string[] {
  if (!Error.isError(error)) return [String(error)];
  if ("errors" in error && Array.isArray(error.errors))
    return error.errors.flatMap((each) => reasonsOf(each, names));
  const topics = "topic" in error ? [String(error.topic)] : names;
  const right = missingRight(error, { to: "make", topics });
  return [right ?? ("topic" in error ? `${topics.join()}: ${error.message}` : error.message)];
}

async function grow(admin: Admin, plans: readonly TopicPlan[]): Promise<void> {
  if (plans.length === 0) return;
  await admin.createPartitions({
    topicPartitions: plans.map(({ name, partitions }) => ({ topic: name, count: partitions })),
  });
}
