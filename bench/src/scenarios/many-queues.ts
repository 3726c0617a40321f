/**
 * Measures very many queues of one at a time, twenty messages each: the share of the unqueued throughput, and the cost of
 * listing the queues.
 */
import { type Book } from "../load/book.ts";
import { closedLoop } from "../load/senders.ts";
import { batchTemplate, type PublishHeaders, token } from "../load/template.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { percentile, ratioSpread, spreadOf } from "../statistics.ts";
import { least, posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const perQueue = 20;
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

/** Per round. `fewest` and `most` are a queue's arrivals, of its twenty, when half of all messages have arrived. */
type Measured = { readonly free: number[]; readonly queued: number[] } & HalfWay;
type HalfWay = { readonly fewest: number[]; readonly most: number[] };

async function run(stage: Stage, queueCount: number): Promise<Findings> {
  const system = await stage.start(...posthaste);
  const bare = await stage.start(...least);
  if (system === undefined || bare === undefined) return { blocks: ["Not measured."] };
  const named = queueCount.toLocaleString("en-US");
  const ours = nothing();
  const theirs = nothing();
  const rounds = await stage.rounds(async () => {
    await measure(stage, bare, queueCount, theirs);
    await measure(stage, system, queueCount, ours);
  });
  const listMs = new Float64Array(listRounds);
  for (let round = 0; round < listRounds; round++) {
    const startedAt = performance.now();
    await listQueues(stage, system, queueCount);
    listMs[round] = performance.now() - startedAt;
  }
  const row = (name: string, { free, queued, fewest, most }: Measured) => [
    name,
    spread(spreadOf(free)),
    spread(spreadOf(queued)),
    spread(ratioSpread(queued, free)),
    `${Math.min(...fewest)} to ${Math.max(...most)}`,
  ];
  const listP99 = percentile(listMs.sort(), 0.99);
  return {
    blocks: [
      `${perQueue} messages to each of ${named} queues of parallelism 1, and as many without a queue, in batches, to a destination that answers after ${answerMs} ms; ${rounds} rounds. The minimal program keeps its queues in memory and starts the next message when the settle before it is on disk, without pauses, retries, lags or limits. Then the queues of Posthaste are listed ${listRounds} times.`,
      table(
        ["", "no queue, delivered/s", "queued, delivered/s", "÷", "arrived of a queue at half"],
        [row(bare.name, theirs), row(system.name, ours)],
      ),
      table(["list of all queues p99, ms"], [[figure(listP99)]]),
    ],
    goals: [
      atLeast(
        `delivered/s over ${named} queues ÷ without`,
        ratioSpread(ours.queued, ours.free)?.median,
        0.6,
      ),
      atLeast(`fewest arrived of a queue of ${named} at half`, Math.min(...ours.fewest), 5),
      atMost(`most arrived of a queue of ${named} at half`, Math.max(...ours.most), 15),
      ...(queueCount <= batchMax
        ? [atMost(`p99 of a list of ${named} queues`, listP99, 50, " ms")]
        : []),
    ],
  };
}

const nothing = (): Measured => ({ free: [], queued: [], fewest: [], most: [] });

async function measure(
  stage: Stage,
  system: System,
  queueCount: number,
  into: Measured,
): Promise<void> {
  into.free.push(perSecondOf(await deliver(stage, system, queueCount, () => ({}))));
  const books = await deliver(stage, system, queueCount, (i) => ({
    "Service-Queue-Name": `queue-${i}`,
  }));
  into.queued.push(perSecondOf(books));
  const counts = arrivedAtHalf(books);
  into.fewest.push(Math.min(...counts));
  into.most.push(Math.max(...counts));
}

/** Uses a sender and a book for each thousand queues, so that each queue gets its twenty. */
async function deliver(
  stage: Stage,
  { name, port }: System,
  queueCount: number,
  headersOf: (index: number) => PublishHeaders,
): Promise<readonly Book[]> {
  const to = await stage.destination({ answerAfterMs: answerMs });
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
  for (const { book } of parts) await stage.settle(name, book, drainMsMax);
  return parts.map(({ book }) => book);
}

function perSecondOf(books: readonly Book[]): number {
  const arrived = books.reduce((sum, book) => sum + book.arrived, 0);
  const firstSentAt = Math.min(...books.map((book) => book.firstSentAt));
  const lastArrivedAt = Math.max(...books.map((book) => book.lastArrivedAt));
  return (arrived * 1000) / (lastArrivedAt - firstSentAt);
}

function arrivedAtHalf(books: readonly Book[]): readonly number[] {
  const arrivals = books.flatMap((book, part) =>
    Array.from({ length: book.sent }, (_, index) => ({
      queue: part * batchMax + (index % batchMax),
      at: book.arrivedAt(index),
    })),
  );
  arrivals.sort((one, other) => one.at - other.at);
  const counts = new Array<number>(books.length * batchMax).fill(0);
  for (const { queue } of arrivals.slice(0, arrivals.length / 2)) {
    counts[queue] = (counts[queue] ?? 0) + 1;
  }
  return counts;
}

async function listQueues(stage: Stage, { port }: System, queueCount: number): Promise<void> {
  const listed = await fetch(`http://127.0.0.1:${port}/v2/queues`, {
    headers: { Authorization: `Bearer ${token}` },
  });
  const queues = (await listed.json()) as readonly unknown[];
  if (queues.length !== queueCount) stage.fault(`${queues.length} of ${queueCount} are listed`);
}
