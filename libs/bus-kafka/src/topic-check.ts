/** Finds the problems of a topic that was made by hand. */
import { hiddenTopic } from "./rights.ts";
import { type TopicPlan } from "./topics.ts";

export type FoundTopic = {
  readonly partitions: number;
  /** The number of replicas of the partition that has the fewest. */
  readonly replicas: number;
  /** The settings by their names at the broker; undefined if this process has no right to read them. */
  readonly settings: ReadonlyMap<string, string> | undefined;
};

/** The least retention of hints, which are received within seconds; their alarms ring within minutes. */
const hintMsMin = 60_000;
/** A send has half a mebibyte for one partition, or one larger message. */
const messageBytesMin = 1024 * 1024;
/** The codecs that members can read, should a broker compress messages itself. */
const readable = ["producer", "uncompressed", "gzip"];
const forever = -1;

/** Returns a line for each problem; empty if the topic is suitable. Unknown settings are ignored. */
export function wrongWith(plan: TopicPlan, found: FoundTopic | "missing" | "hidden"): string[] {
  const { name, partitions } = plan;
  if (found === "missing")
    return [`the topic ${name} is missing: it needs ${partitionsOf(partitions)}`];
  if (found === "hidden") return [hiddenTopic(name)];
  const settings = found.settings ?? new Map<string, string>();
  const number = (setting: string): number | undefined => {
    const text = settings.get(setting);
    return text === undefined ? undefined : Number(text);
  };
  const text = (setting: string): string => `${setting} ${settings.get(setting)}`;
  const problems: (string | false)[] = [
    found.partitions < partitions &&
      `has ${partitionsOf(found.partitions)} and needs ${partitions} or more`,
    settings.has("cleanup.policy") &&
      settings.get("cleanup.policy") !== "delete" &&
      `has ${text("cleanup.policy")} and needs delete: compaction would lose events with the same key`,
    settings.has("compression.type") &&
      !readable.includes(settings.get("compression.type") ?? "") &&
      `has ${text("compression.type")} and needs one of ${readable.join(", ")}: others cannot be read`,
    isBelow(number("retention.ms"), plan.isFact ? plan.retentionMs : hintMsMin) &&
      `has ${text("retention.ms")} and needs ${plan.isFact ? plan.retentionMs : hintMsMin} or more`,
    plan.isFact &&
      isBelow(number("retention.bytes"), Number.POSITIVE_INFINITY) &&
      `has ${text("retention.bytes")} and needs -1: unread facts would be removed`,
    (number("max.message.bytes") ?? Infinity) < (plan.messageBytesMax ?? messageBytesMin) &&
      `has ${text("max.message.bytes")} and needs ${plan.messageBytesMax ?? messageBytesMin} or more`,
    (number("min.insync.replicas") ?? 1) > found.replicas &&
      `has ${text("min.insync.replicas")} and ${found.replicas} replicas: no write can succeed`,
  ];
  return problems.flatMap((problem) => (problem === false ? [] : [`the topic ${name} ${problem}`]));
}

const isBelow = (value: number | undefined, least: number): boolean =>
  value !== undefined && value !== forever && value < least;

const partitionsOf = (count: number): string => `${count} partition${count === 1 ? "" : "s"}`;
