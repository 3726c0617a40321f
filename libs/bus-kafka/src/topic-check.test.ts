import { describe, expect, it } from "@jest/globals";
import { type FoundTopic, wrongWith } from "./topic-check.ts";
import { settingsOf, type TopicPlan, topicPlans } from "./topics.ts";

const hour = 3_600_000;
const plans = topicPlans("p.", 16, 168 * hour);
const planOf = (name: string): TopicPlan => {
  const plan = plans.find(({ topic }) => topic === name);
  if (!plan) throw new Error(`no ${name}`);
  return plan;
};
const found = (
  plan: TopicPlan,
  settings: Readonly<Record<string, string>> = {},
  given: Partial<FoundTopic> = {},
): FoundTopic => ({
  partitions: plan.partitions,
  replicas: 3,
  settings: new Map(
    Object.entries({
      "max.message.bytes": "1048588",
      "min.insync.replicas": "2",
      "retention.bytes": "-1",
      ...settingsOf(plan),
      ...settings,
    }),
  ),
  ...given,
});

describe("a topic that was made by hand", () => {
  it.each(plans)("is right as it would be made: $name", (plan) => {
    expect(wrongWith(plan, found(plan))).toEqual([]);
  });

  it.each([
    ["message.settled", { "retention.ms": "-1" }, {}],
    ["message.settled", { "retention.ms": String(400 * hour) }, { partitions: 40 }],
    ["message.due", { "retention.ms": "60000", "retention.bytes": "1000000" }, {}],
    ["scheduler.wake", { "compression.type": "gzip" }, {}],
    ["message.accepted", { "min.insync.replicas": "1" }, { replicas: 1 }],
    ["message.settled", {}, { settings: undefined }],
  ] as const)("may differ where nothing is lost by it: %s %j %j", (name, settings, given) => {
    const plan = planOf(name);

    expect(wrongWith(plan, found(plan, settings, given))).toEqual([]);
  });

  it.each([
    ["message.due", {}, { partitions: 4 }, "has 4 partitions and needs 16 or more"],
    ["message.due", {}, { partitions: 1, settings: undefined }, "has 1 partition and needs 16"],
    ["message.settled", { "cleanup.policy": "compact" }, {}, "has cleanup.policy compact"],
    [
      "message.settled",
      { "cleanup.policy": "compact,delete" },
      {},
      "cleanup.policy compact,delete",
    ],
    ["scheduler.wake", { "compression.type": "zstd" }, {}, "has compression.type zstd"],
    ["message.settled", { "retention.ms": String(hour) }, {}, "needs 604800000 or more"],
    ["message.due", { "retention.ms": "1000" }, {}, "has retention.ms 1000 and needs 60000"],
    ["message.settled", { "retention.bytes": "1000000" }, {}, "has retention.bytes 1000000"],
    ["message.due", { "max.message.bytes": "65536" }, {}, "has max.message.bytes 65536"],
    ["parked", { "max.message.bytes": "1048588" }, {}, "needs 2097152 or more"],
    ["message.due", { "min.insync.replicas": "2" }, { replicas: 1 }, "no write can succeed"],
  ] as const)("is wrong where it is: %s %j %j", (name, settings, given, what) => {
    const plan = planOf(name);

    const problems = wrongWith(plan, found(plan, settings, given));

    expect(problems).toEqual([expect.stringContaining(`the topic p.${name} `)]);
    expect(problems.join()).toContain(what);
  });

  it("is reported once for each fault", () => {
    const plan = planOf("message.settled");
    const settings = { "cleanup.policy": "compact", "retention.ms": "1" };

    expect(wrongWith(plan, found(plan, settings, { partitions: 1 }))).toHaveLength(3);
  });

  it("is missing, or not to be seen", () => {
    const plan = planOf("parked");

    expect(wrongWith(plan, "missing")).toEqual([
      "the topic p.parked is missing: it needs 1 partition",
    ]);
    expect(wrongWith(plan, "hidden").join()).toContain("no right to describe it");
  });
});
