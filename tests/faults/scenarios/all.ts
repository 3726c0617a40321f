/** Everything that is done to the services and their stores. */
import { type Scenario } from "../stage.ts";
import { bulkActions } from "./bulk-actions.ts";
import { kafkaKilled, kafkaStopped } from "./kafka.ts";
import { kills } from "./kills.ts";
import { lostReplies } from "./lost-replies.ts";
import { storeKilled, storeSlow } from "./mongodb.ts";
import { redisFlushed, redisKilled } from "./redis.ts";
import { rolling } from "./rolling.ts";
import { standstill } from "./standstill.ts";

/** The short form: each once, in this order. Rolling comes first: no fault before it excuses a repeat. */
export const scenarios: readonly Scenario[] = [
  rolling,
  lostReplies,
  storeSlow,
  redisFlushed,
  redisKilled,
  kafkaKilled,
  storeKilled,
  kills,
  bulkActions,
  standstill,
];

/** The long form draws from these. */
export const allScenarios: readonly Scenario[] = [...scenarios, kafkaStopped];
