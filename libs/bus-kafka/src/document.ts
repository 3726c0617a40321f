/** `docs/kafka.md`, made from the topics: what stands in Kafka, and how to make it by hand. */
import {
  parkedTopic,
  groupOf,
  partiesOf,
  settingsOf,
  type TopicPlan,
  topicPlans,
} from "./topics.ts";

const prefix = "posthaste.";
const partitions = 16;
const retentionMs = 168 * 3_600_000;

const contents: Readonly<
  Record<TopicPlan["topic"], { readonly says: string; readonly key: string }>
> = {
  "message.accepted": { says: "a message was accepted, for the log", key: "id of the message" },
  "message.due": {
    says: "a message may be delivered; small ones that go at once stand here with body and forwarded headers",
    key: "id of the message",
  },
  "message.settled": {
    says: "how an attempt ended, for callbacks and the log",
    key: "id of the message",
  },
  "scheduler.wake": { says: "a shard has an alarm that is earlier", key: "number of the shard" },
  parked: {
    says: "what a member could not read, as it came, with the reason in its headers",
    key: "that of what is parked",
  },
};

export function renderKafka(): string {
  const plans = topicPlans(prefix, partitions, retentionMs);
  const members = [...new Set(plans.flatMap(({ topic }) => membersOf(topic)))];
  return [
    introduction,
    tableOf(
      ["Topic", "Says", "Key", "Kind", "Written by", "Read by"],
      plans.map(({ name, topic, isFact }) => [
        `\`${name}\``,
        contents[topic].says,
        contents[topic].key,
        isFact ? "fact" : "hint",
        partiesOf(topic).writers.join(", "),
        partiesOf(topic).readers.join(", ") || "–",
      ]),
    ),
    kinds,
    tableOf(
      ["Consumer group", "Topic", "Members"],
      plans.flatMap(({ topic, name }) =>
        topic === parkedTopic
          ? []
          : partiesOf(topic).readers.map((member) => [
              `\`${groupOf(prefix, member, topic)}\``,
              `\`${name}\``,
              `every ${member}`,
            ]),
      ),
    ),
    settings,
    tableOf(
      ["Topic", "Partitions", "Settings"],
      plans.map((plan) => [
        `\`${plan.name}\``,
        String(plan.partitions),
        Object.entries(settingsOf(plan))
          .map(([name, value]) => `\`${name}=${value}\``)
          .join("<br>"),
      ]),
    ),
    byHand,
    ["```sh kafka", ...plans.map(creation), "```"].join("\n"),
    looks,
    rights,
    missed,
    ["```sh kafka", ...members.flatMap((member) => rightsOf(member, plans)), "```"].join("\n"),
    oneUser,
  ].join("\n\n");
}

const membersOf = (topic: TopicPlan["topic"]) => {
  const { writers, readers } = partiesOf(topic);
  return [...writers, ...readers];
};

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

function creation(plan: TopicPlan): string {
  const configs = Object.entries(settingsOf(plan)).map(
    ([name, value]) => `--config ${name}=${value}`,
  );
  return [
    `kafka-topics.sh --bootstrap-server "$BROKERS" --create --topic ${plan.name} --partitions ${plan.partitions}`,
    ...configs,
  ].join(" \\\n  ");
}

const adds = 'kafka-acls.sh --bootstrap-server "$BROKERS" --add';

function rightsOf(member: string, plans: readonly TopicPlan[]): readonly string[] {
  const to = `${adds} --allow-principal User:${member}`;
  const own = plans.map((plan) => ({ ...plan, ...partiesOf(plan.topic) }));
  return [
    `${to} --operation Describe --operation DescribeConfigs --topic ${prefix} --resource-pattern-type prefixed`,
    ...own
      .filter(({ writers }) => writers.some((writer) => writer === member))
      .map(({ name }) => `${to} --operation Write --topic ${name}`),
    ...own.flatMap(({ name, topic, readers }) =>
      topic !== parkedTopic && readers.some((reader) => reader === member)
        ? [
            `${to} --operation Read --topic ${name}`,
            `${to} --operation Read --group ${groupOf(prefix, member, topic)}`,
          ]
        : [],
    ),
  ];
}

const introduction = `# Kafka

Made from \`libs/bus-kafka/src/topics.ts\` by \`npm run generate\`.

What the six services have in Kafka: topics, settings, consumer groups, and the rights of each service. The names begin with
\`POSTHASTE_KAFKA_PREFIX\`; the figures are those of the defaults. The standalone has no Kafka, and management does not speak to it.

## Topics`;

const kinds = `A _fact_ must not be lost: it is said until all replicas in sync have it, and what is removed before a group has heard it is
counted (\`posthaste_bus_total{what="placesLost"}\`, [runbook](runbook.md)). A _hint_ may be lost: the alarm of its record does the same, later. All are
said with \`acks=all\` by idempotent producers, compressed by no codec. A group remembers its places in Kafka (\`offsets.retention.minutes\` of the brokers should be
longer than your longest outage).`;

const settings = `## Settings

A process that finds no topic makes it, with these settings and no others; afterwards they are the operator's. Replicas and \`min.insync.replicas\` are the brokers'
defaults (\`default.replication.factor\`), unless \`POSTHASTE_KAFKA_REPLICATION\` is set. Partitions and the retention of facts are
\`POSTHASTE_KAFKA_PARTITIONS\` (of wakes at most as many as there are shards, 64) and \`POSTHASTE_KAFKA_RETENTION_HOURS\`. More partitions are made when more
are asked for, and never fewer.`;

const byHand = `## Made by hand

With \`POSTHASTE_KAFKA_PROVISION=off\` (chart: \`kafka.provision: false\`) no process makes a topic or a partition:`;

const looks = `At its start, and after each loss of its connection, a process looks at each topic: whether it is there, has as many partitions as
\`POSTHASTE_KAFKA_PARTITIONS\` says or more, is of \`cleanup.policy=delete\`, keeps facts as long as \`POSTHASTE_KAFKA_RETENTION_HOURS\` says and hints for a minute or more, takes
a mebibyte (parked: two), has no codec that cannot be read, and can take anything at all with its replicas and \`min.insync.replicas\`. What is
wrong stands in one line, \`bus.down\`, and in \`/readyz\`; the process goes on as it does without Kafka and looks again each second, so that a topic that is made or
mended later is found. Kafka does not tell a topic that is missing from one that a user may not describe, so the line says both. Without the right to
read settings (DescribeConfigs) they are not compared.`;

const rights = `## Rights

What each service needs, as one user a service. With \`POSTHASTE_KAFKA_PROVISION=on\` the first that starts also needs Create and, for more partitions,
Alter on the topics. Brokers before 2.8 want IdempotentWrite on the cluster beside Write.

A right that is missing is told when a process misses it, within seconds, with the topic or group and how to give it: in one line, and in \`/readyz\` for
as long as it is missing. No process writes to \`parked\` before the first message that it cannot read.`;

const missed = tableOf(
  ["Right", "Missed by", "Line"],
  [
    ["Describe", "the look at the start; Write and Read imply it", "`bus.down`"],
    [
      "Write",
      "the first message; the start, as an idempotent producer, where there is no such right at all",
      "`bus.down`",
    ],
    ["Read on a topic", "the first fetch, at the start", "`bus.consumer_ended`"],
    ["Read on a group", "the join, at the start", "`bus.consumer_ended`"],
  ],
);

const oneUser = `For one user of all services: All on topics that begin with \`${prefix}\` and Read on such groups.`;
