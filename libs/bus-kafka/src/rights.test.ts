import { describe, expect, it } from "@jest/globals";
import { type Asked, hiddenTopic, missingRight } from "./rights.ts";

const failed = (type: string): Error => Object.assign(new Error(type), { type });
const write = (...topics: readonly string[]): Asked => ({ to: "write", topics });
const make = (...topics: readonly string[]): Asked => ({ to: "make", topics });
const read: Asked = { to: "read", topics: ["t"], group: "g" };
const idempotent =
  "be an idempotent producer: give this user Write on its topics, and before Kafka 2.8 IdempotentWrite on the cluster, with IAM WriteDataIdempotently";

describe("a right that is missing", () => {
  it.each([
    ["GROUP_AUTHORIZATION_FAILED", read, "be in the group g: give this user Read on it"],
    ["TOPIC_AUTHORIZATION_FAILED", read, "read the topic t: give this user Read on it"],
    ["TOPIC_AUTHORIZATION_FAILED", write("t"), "write to the topic t: give this user Write on it"],
    [
      "TOPIC_AUTHORIZATION_FAILED",
      write("t", "u"),
      "write to one of the topics t, u: give this user Write on each",
    ],
    [
      "TOPIC_AUTHORIZATION_FAILED",
      make("t"),
      "make the topic t: give this user Create and Describe on it",
    ],
    ["CLUSTER_AUTHORIZATION_FAILED", write(), idempotent],
  ])(
    "is reported with its topic or group, and the command that grants it: %s %j",
    (type, asked, said) => {
      const error = new Error("retries exceeded", { cause: failed(type) });

      expect(missingRight(error, asked)).toBe(
        `there is no right to ${said} (docs/kafka.md#rights)`,
      );
    },
  );

  it.each([failed("NOT_LEADER_FOR_PARTITION"), new Error("connect ECONNREFUSED"), undefined])(
    "is not reported if something else has failed: %s",
    (error) => {
      for (const asked of [read, write("t"), make("t")])
        expect(missingRight(error, asked)).toBeUndefined();
    },
  );

  it("to describe a topic may as well be a topic that is missing", () => {
    expect(hiddenTopic("t")).toBe(
      "the topic t is missing, or there is no right to describe it: give this user Describe on it (docs/kafka.md#rights)",
    );
  });
});
