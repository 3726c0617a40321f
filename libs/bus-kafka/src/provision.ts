/** Makes the topics that are missing, and finds out how many partitions each has. */
import { type Admin } from "kafkajs";
import { type ClientOptions, newClient } from "./client.ts";
import { type TopicPlan } from "./topics.ts";

/** By the topic's name at the broker. */
export type PartitionCounts = ReadonlyMap<string, number>;

const retries = 2;

/**
 * A topic that has fewer partitions than planned gets more, if we may; one that has more keeps them (docs/design/record#shards).
 * Retention is given when a topic is made; afterwards it is the operator's.
 */
export async function provision(
  client: ClientOptions,
  plans: readonly TopicPlan[],
  replication: number,
): Promise<PartitionCounts> {
  return asAdmin(client, async (admin) => {
    const found = await countsOf(admin, plans);
    const missing = plans.filter(({ name }) => !found.has(name));
    const growing = plans.filter(
      ({ name, partitions }) => (found.get(name) ?? partitions) < partitions,
    );
    if (missing.length === 0 && growing.length === 0) return found;
    await create(admin, missing, replication);
    await grow(admin, growing).catch(() => undefined);
    const made = await countsOf(admin, plans);
    const absent = plans.filter(({ name }) => !made.has(name)).map(({ name }) => name);
    if (absent.length > 0) throw new Error(`the broker has no topic ${absent.join(", ")} yet`);
    return made;
  });
}

/** Whether a broker answers to a question that has nothing to do with groups: here that of its versions. */
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

/** Of all topics that there are: a question for one that is missing would be an error. */
async function countsOf(admin: Admin, plans: readonly TopicPlan[]): Promise<PartitionCounts> {
  const there = new Set(await admin.listTopics());
  const wanted = plans.map(({ name }) => name).filter((name) => there.has(name));
  if (wanted.length === 0) return new Map();
  const { topics } = await admin.fetchTopicMetadata({ topics: wanted });
  return new Map(topics.map(({ name, partitions }) => [name, partitions.length]));
}

async function create(
  admin: Admin,
  plans: readonly TopicPlan[],
  replication: number,
): Promise<void> {
  if (plans.length === 0) return;
  const inSync = String(Math.max(1, Math.min(2, replication - 1)));
  const topics = plans.map(
    ({ name, partitions, retentionMs, retentionBytes, messageBytesMax }) => ({
      topic: name,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: [
        { name: "cleanup.policy", value: "delete" },
        // A broker that compresses by its own choice may take a codec that no member can read.
        { name: "compression.type", value: "producer" },
        { name: "retention.ms", value: String(retentionMs) },
        // Only whole segments are removed, so one that gets little is closed in time.
        { name: "segment.ms", value: String(Math.max(segmentMsMin, Math.floor(retentionMs / 6))) },
        { name: "min.insync.replicas", value: inSync },
        ...(retentionBytes === undefined
          ? []
          : [
              { name: "retention.bytes", value: String(retentionBytes) },
              { name: "segment.bytes", value: String(Math.floor(retentionBytes / segmentsMin)) },
            ]),
        ...(messageBytesMax === undefined
          ? []
          : [{ name: "max.message.bytes", value: String(messageBytesMax) }]),
      ],
    }),
  );
  try {
    // False when another process was faster.
    await admin.createTopics({ waitForLeaders: true, topics });
  } catch (error) {
    throw new Error(`cannot make the topics: ${reasonsOf(error).join("; ")}`, { cause: error });
  }
}

/** kafkajs says of several topics only that there were errors. */
function reasonsOf(error: unknown): readonly string[] {
  if (!Error.isError(error)) return [String(error)];
  return "errors" in error && Array.isArray(error.errors)
    ? error.errors.flatMap(reasonsOf)
    : [error.message];
}

const segmentMsMin = 60_000;
/** Of what a partition keeps by its size. */
const segmentsMin = 4;

async function grow(admin: Admin, plans: readonly TopicPlan[]): Promise<void> {
  if (plans.length === 0) return;
  await admin.createPartitions({
    topicPartitions: plans.map(({ name, partitions }) => ({ topic: name, count: partitions })),
  });
}
