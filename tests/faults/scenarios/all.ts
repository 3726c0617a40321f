import { type Scenario } from "../stage.ts";
import { kafkaKilled, kafkaStopped } from "./kafka.ts";
import { kills } from "./kills.ts";
import { lostReplies } from "./lost-replies.ts";
import { storeKilled, storeSlow } from "./mongodb.ts";
import { redisFlushed, redisKilled } from "./redis.ts";
import { rolling } from "./rolling.ts";
import { standstill } from "./standstill.ts";

/**
 * The short form: each once, in this order, in two runs of about the same length that may take place at the same time.
 * Rolling comes first in its run, so that no fault before it excuses a repeat.
 */
export const killed: readonly Scenario[] = [rolling, kills];
export const outages: readonly Scenario[] = [
  lostReplies,
  storeSlow,
  redisFlushed,
  redisKilled,
  kafkaKilled,
  storeKilled,
  standstill,
];

/** The long form draws from these. */
export const allScenarios: readonly Scenario[] = [...killed, ...outages, kafkaStopped];
