/**
 * Says which right this process lacks, and how to grant it. Brokers and kafkajs name neither topics nor groups, so
 * the caller names its request.
 */
import { errorTypesOf } from "./refusal.ts";

export type Asked =
  | { readonly to: "write" | "make"; readonly topics: readonly string[] }
  | { readonly to: "read"; readonly topics: readonly string[]; readonly group: string };

/** Returns undefined if the error does not concern a right. */
export function missingRight(error: unknown, asked: Asked): string | undefined {
  const types = errorTypesOf(error);
  if (asked.to === "read" && types.includes("GROUP_AUTHORIZATION_FAILED"))
    return noRight(`be in the group ${asked.group}`, "Read on it");
  if (types.includes("TOPIC_AUTHORIZATION_FAILED")) {
    const { verb, operations } = ofTopics[asked.to];
    const isOne = asked.topics.length === 1;
    const topics = `${isOne ? "the topic" : "one of the topics"} ${asked.topics.join(", ")}`;
    return noRight(`${verb} ${topics}`, `${operations} on ${isOne ? "it" : "each"}`);
  }
  // Brokers also admit a user that may write to some topic.
  if (types.includes("CLUSTER_AUTHORIZATION_FAILED"))
    return noRight(
      "be an idempotent producer",
      "Write on its topics, and before Kafka 2.8 IdempotentWrite on the cluster, with IAM WriteDataIdempotently",
    );
  return undefined;
}

const ofTopics = {
  write: { verb: "write to", operations: "Write" },
  read: { verb: "read", operations: "Read" },
  make: { verb: "make", operations: "Create and Describe" },
};

/** Returns the text for such a topic. Kafka does not tell whether a topic exists that a user may not describe. */
export const hiddenTopic = (name: string): string =>
  `the topic ${name} is missing, or ${noRight("describe it", "Describe on it")}`;

const noRight = (what: string, wanted: string): string =>
  `there is no right to ${what}: give this user ${wanted} (docs/kafka.md#rights)`;
