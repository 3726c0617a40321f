/** Measures the message API beyond a publish over the six services: a queue, batches, and a crowd under one label. */
import { publishTemplate } from "../load/template.ts";
import { measureLeastQueue } from "../peers/least-queue.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { type ApartStores, startApart, startApartStores } from "../systems/apart.ts";
import { crowdText, fillCrowd, measureCrowd } from "./bulk.ts";
import { measureThroughput } from "./measure.ts";
import { measureQueued, narrow } from "./queues.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const queuedCount = 500;
const warmUp = { connections: 64, forMs: 5_000 } as const;

export const apartMessages: Scenario = {
  name: "apart-messages",
  title: "Queues, batches and bulk over the six services",
  budgetMs: 300_000,
  isAsked: true,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const stores = await stage.attempt("posthaste apart", startApartStores);
  if (stores === undefined) return { blocks: ["Not measured."] };
  try {
    return await measure(stage, stores);
  } finally {
    await stage.stopAll();
    await stores.stop();
  }
}

async function measure(stage: Stage, stores: ApartStores): Promise<Findings> {
  const system = await stage.attempt("posthaste apart", () =>
    startApart(stores, { deliverers: 1 }),
  );
  if (system === undefined) return { blocks: ["Not measured."] };
  try {
    const destination = await stage.destination();
    await measureThroughput(stage, system, { template: publishTemplate(destination), ...warmUp });
    const queue = { "Service-Queue-Name": narrow };
    const { perSecond } = await measureQueued(stage, system, queue, queuedCount);
    const { mongodb } = stores.stores;
    if (mongodb === undefined) throw new Error("the six services run without MongoDB");
    const least = await measureLeastQueue(mongodb.uri, destination, queuedCount);
    const before = await system.calls();
    const filled = await fillCrowd(stage, system, destination);
    const callsEach = ((await system.calls()).store - before.store) / filled;
    const crowd = await measureCrowd(stage, system, destination);
    return {
      blocks: [
        `One deliverer, over ${stores.names}. ${queuedCount} messages through a queue of parallelism 1, to a destination that answers at once, and through a minimal program with three writes for each message, one after another; then a crowd is published in batches of a thousand.`,
        table(
          [
            "delivered/s of one queue",
            "by the minimal program",
            "store calls per message of a batch",
          ],
          [[perSecond, least, callsEach].map(figure)],
        ),
        crowdText,
        crowd.table,
      ],
      goals: [
        atLeast("delivered/s of one queue, one at a time, apart", perSecond, 40),
        atLeast("one queue apart ÷ the minimal program", perSecond / least, 0.4),
        atMost("store calls per message of a batch, apart", callsEach, 0.02),
        atMost("p99 of a list by a rare label, apart", crowd.lookMs, 150, " ms"),
        atMost("cancel of 100,000 by label, apart", crowd.cancelMs, 20_000, " ms"),
        atMost("p99 of a publish during the cancel, apart", crowd.besideMs, 60, " ms"),
      ],
    };
  } finally {
    await system.stop();
  }
}
