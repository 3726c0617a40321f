/** A thousand queues of one at a time, each with twenty messages: how much of the unqueued throughput is left, and what a list of them costs. */
import { closedLoop } from "../load/senders.ts";
import { batchTemplate, type PublishHeaders, token } from "../load/template.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const queueCount = 1_000;
const perQueue = 20;
const messages = queueCount * perQueue;
const answerMs = 5;
const sendMsMax = 30_000;
const drainMsMax = 60_000;
const listRounds = 20;

export const manyQueues: Scenario = {
  name: "many-queues",
  title: "1,000 queues",
  budgetMs: 60_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  const free: number[] = [];
  const queued: number[] = [];
  const rounds = await stage.rounds(async () => {
    free.push(await measure(stage, system, () => ({})));
    queued.push(await measure(stage, system, (i) => ({ "Service-Queue-Name": `queue-${i}` })));
  });
  const listMs = new Float64Array(listRounds);
  for (let round = 0; round < listRounds; round++) {
    const startedAt = performance.now();
    await listQueues(stage, system);
    listMs[round] = performance.now() - startedAt;
  }
  const ratio = ratioSpread(queued, free);
  const listP99 = percentile(listMs.sort(), 0.99);
  return {
    blocks: [
      `${perQueue} messages to each of ${queueCount.toLocaleString("en-US")} queues of parallelism 1, and as many without a queue, in batches, to a destination that answers after ${answerMs} ms; ${rounds} rounds. Then the queues are listed ${listRounds} times.`,
      table(
        ["", "delivered/s"],
        [
          ["no queue", spread(spreadOf(free))],
          ["queued", spread(spreadOf(queued))],
          ["÷", spread(ratio)],
        ],
      ),
      table(["list of all queues p99, ms"], [[figure(listP99)]]),
    ],
    goals: [
      atLeast("delivered/s over 1,000 queues ÷ without", ratio?.median, 0.6),
      atMost("p99 of a list of 1,000 queues", listP99, 50, " ms"),
    ],
  };
}

async function measure(
  stage: Stage,
  { name, port }: System,
  headersOf: (index: number) => PublishHeaders,
): Promise<number> {
  const sink = await stage.sink({ answerAfterMs: answerMs });
  const template = batchTemplate(`http://127.0.0.1:${sink.port}/x`, queueCount, headersOf);
  const book = stage.books.open(messages);
  await closedLoop({ port, template }, book, { connections: 2, forMs: sendMsMax });
  const { arrived } = await stage.settle(name, book, drainMsMax);
  return (arrived * 1000) / (book.lastArrivedAt - book.firstSentAt);
}

async function listQueues(stage: Stage, { port }: System): Promise<void> {
  const listed = await fetch(`http://127.0.0.1:${port}/v2/queues`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const queues = (await listed.json()) as readonly unknown[];
  if (queues.length !== queueCount) stage.fault(`${queues.length} of ${queueCount} are listed`);
}
