/** Very many queues of one at a time, each with twenty messages: how much of the unqueued throughput is left, and what a list of them costs. */
import { closedLoop } from "../load/senders.ts";
import { batchTemplate, type PublishHeaders, token } from "../load/template.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const perQueue = 20;
/** A request has no more items. */
const batchMax = 1_000;
const answerMs = 5;
const sendMsMax = 30_000;
const drainMsMax = 180_000;
const listRounds = 20;

export const manyQueues: Scenario = {
  name: "many-queues",
  title: "1,000 queues",
  budgetMs: 60_000,
  run: (stage) => run(stage, 1_000),
};

export const tenThousandQueues: Scenario = {
  name: "ten-thousand-queues",
  title: "10,000 queues",
  budgetMs: 300_000,
  isAsked: true,
  run: (stage) => run(stage, 10_000),
};

async function run(stage: Stage, queueCount: number): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  const named = queueCount.toLocaleString("en-US");
  const free: number[] = [];
  const queued: number[] = [];
  const rounds = await stage.rounds(async () => {
    free.push(await measure(stage, system, queueCount, () => ({})));
    queued.push(
      await measure(stage, system, queueCount, (i) => ({ "Service-Queue-Name": `queue-${i}` })),
    );
  });
  const listMs = new Float64Array(listRounds);
  for (let round = 0; round < listRounds; round++) {
    const startedAt = performance.now();
    await listQueues(stage, system, queueCount);
    listMs[round] = performance.now() - startedAt;
  }
  const ratio = ratioSpread(queued, free);
  const listP99 = percentile(listMs.sort(), 0.99);
  return {
    blocks: [
      `${perQueue} messages to each of ${named} queues of parallelism 1, and as many without a queue, in batches, to a destination that answers after ${answerMs} ms; ${rounds} rounds. Then the queues are listed ${listRounds} times.`,
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
      atLeast(`delivered/s over ${named} queues ÷ without`, ratio?.median, 0.6),
      ...(queueCount <= batchMax
        ? [atMost(`p99 of a list of ${named} queues`, listP99, 50, " ms")]
        : []),
    ],
  };
}

/** A sender and a book for each thousand queues, so that each queue gets its twenty. */
async function measure(
  stage: Stage,
  { name, port }: System,
  queueCount: number,
  headersOf: (index: number) => PublishHeaders,
): Promise<number> {
  const sink = await stage.sink({ answerAfterMs: answerMs });
  const to = `http://127.0.0.1:${sink.port}/x`;
  const parts = Array.from({ length: queueCount / batchMax }, (_, part) => ({
    book: stage.books.open(batchMax * perQueue),
    template: batchTemplate(to, batchMax, (i) => headersOf(part * batchMax + i)),
  }));
  const connections = parts.length === 1 ? 2 : 1;
  await Promise.all(
    parts.map(({ book, template }) =>
      closedLoop({ port, template }, book, { connections, forMs: sendMsMax }),
    ),
  );
  let arrived = 0;
  for (const { book } of parts) arrived += (await stage.settle(name, book, drainMsMax)).arrived;
  const firstSentAt = Math.min(...parts.map(({ book }) => book.firstSentAt));
  const lastArrivedAt = Math.max(...parts.map(({ book }) => book.lastArrivedAt));
  return (arrived * 1000) / (lastArrivedAt - firstSentAt);
}

async function listQueues(stage: Stage, { port }: System, queueCount: number): Promise<void> {
  const listed = await fetch(`http://127.0.0.1:${port}/v2/queues`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const queues = (await listed.json()) as readonly unknown[];
  if (queues.length !== queueCount) stage.fault(`${queues.length} of ${queueCount} are listed`);
}
