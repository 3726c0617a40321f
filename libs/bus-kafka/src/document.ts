/** Renders `docs/kafka.md` from the topics: the topics in Kafka, and how to make them by hand. */
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
  "message.accepted": {
    says: "a message was accepted; the log reads it",
    key: "id of the message",
  },
  "message.due": {
    says: "a message may be delivered; small ones that go at once have their body and forwarded headers here",
    key: "id of the message",
  },
  "message.settled": {
    says: "how an attempt ended, for callbacks and the log",
    key: "id of the message",
  },
  "scheduler.wake": { says: "a shard has an earlier alarm", key: "number of the shard" },
  parked: {
    says: "an event that a member could not read, unchanged, with the reason in the headers",
    key: "the key of the parked event",
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

The topics, settings, consumer groups and rights of the six services in Kafka. Names begin with \`POSTHASTE_KAFKA_PREFIX\`; the figures
are those of the defaults. The standalone and management do not use Kafka.

## Topics`;

const kinds = `A _fact_ must not be lost: it is published again until all replicas in sync have it, and facts removed before a group has read them are
counted (\`posthaste_bus_total{what="placesLost"}\`, [runbook](runbook.md)). A _hint_ may be lost: the alarm of its record has the same effect, later. Idempotent
producers publish all events with \`acks=all\`, uncompressed. A group keeps its offsets in Kafka (\`offsets.retention.minutes\` of the brokers should be
longer than your longest outage).`;

const settings = `## Settings

A process makes a missing topic, with these settings and no others; afterwards they are the operator's. Replicas and \`min.insync.replicas\` are the brokers'
defaults (\`default.replication.factor\`), unless \`POSTHASTE_KAFKA_REPLICATION\` is set. Partitions and the retention of facts are
\`POSTHASTE_KAFKA_PARTITIONS\` (of wakes at most as many as there are shards, 64) and \`POSTHASTE_KAFKA_RETENTION_HOURS\`. A process adds partitions
up to that number, and removes none.`;

const byHand = `## Made by hand

With \`POSTHASTE_KAFKA_PROVISION=off\` (chart: \`kafka.provision: false\`) no process makes a topic or a partition:`;

const looks = `At its start, and after each loss of its connection, a process checks that each topic

- exists, with at least \`POSTHASTE_KAFKA_PARTITIONS\` partitions;
- has \`cleanup.policy=delete\`;
- keeps facts for \`POSTHASTE_KAFKA_RETENTION_HOURS\`, and hints for at least a minute;
- accepts messages of a mebibyte (parked: two);
- has no codec that the process cannot read;
- has enough replicas for \`min.insync.replicas\`, without which it accepts no event.

The process reports faults in one line, \`bus.down\`, and in \`/readyz\`. It goes on as it does without Kafka and checks again each second, so it finds a topic that is
made or repaired later. Kafka does not distinguish a missing topic from one that a user may not describe, so the line names both causes. Without the right to
read settings (DescribeConfigs) they are not compared.`;

const rights = `## Rights

The rights below are for one user per service. With \`POSTHASTE_KAFKA_PROVISION=on\` the first service that starts also needs Create and, for more partitions,
Alter on the topics. Brokers before 2.8 require IdempotentWrite on the cluster beside Write.

A process reports a missing right within seconds after it needed it, with the topic or group and how to grant it: in one line, and in \`/readyz\` for
as long as it is missing. A process first writes to \`parked\` when it cannot read an event.`;

const missed = tableOf(
  ["Right", "First needed by", "Line"],
  [
    ["Describe", "the check at the start; Write and Read imply it", "`bus.down`"],
    [
      "Write",
      "the first event; the start, as an idempotent producer, if the user has no Write at all",
      "`bus.down`",
    ],
    ["Read on a topic", "the first fetch, at the start", "`bus.consumer_ended`"],
    ["Read on a group", "the join, at the start", "`bus.consumer_ended`"],
  ],
);

const oneUser = `For one user of all services: All on topics that begin with \`${prefix}\` and Read on such groups.`;
