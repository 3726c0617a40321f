/** Measures batches of a thousand messages: the rate, the time to the answer, and the effect on a publish beside them. */
import { closedLoop, openLoop } from "../load/senders.ts";
import { batchTemplate, publishTemplate } from "../load/template.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { spread, table } from "../report/markdown.ts";
import { percentile, ratioSpread, spreadOf } from "../statistics.ts";
import { type System } from "../systems/system.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario, withPosthaste } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const itemCount = 1_000;
const itemBytes = 200;
/** Batches are accepted faster than delivered. This many messages drain within seconds. */
const batchedMax = 30_000;
const singleConnections = 64;
const batchConnections = 2;
const forMs = 2_000;
const besideMs = 3_000;
const besidePerSecond = 200;
const besideConnections = 16;
const drainMsMax = 60_000;

export const batch: Scenario = {
  name: "batch",
  title: "Batches of 1,000",
  budgetMs: 60_000,
  run: withPosthaste(run),
};

async function run(stage: Stage, system: System, destination: string): Promise<Findings> {
  const single = publishTemplate(destination, {}, itemBytes);
  const batched = batchTemplate(destination, itemCount, {}, itemBytes);
  await measureThroughput(stage, system, {
    template: single,
    connections: singleConnections,
    forMs,
  });

  const singles: number[] = [];
  const perSecond: number[] = [];
  const answerMs: number[] = [];
  const besideP99: number[] = [];
  const rounds = await stage.rounds(async () => {
    const load = { template: single, connections: singleConnections, forMs };
    singles.push((await measureThroughput(stage, system, load)).acceptedPerSecond);
    const book = stage.books.open(batchedMax);
    const startedAt = performance.now();
    const target = { port: system.port, template: batched };
    await closedLoop(target, book, { connections: batchConnections, forMs });
    perSecond.push((book.accepted * 1000) / (performance.now() - startedAt));
    await stage.settle(system.name, book, drainMsMax);
    answerMs.push(percentile(book.publishMs(), 0.99));
    besideP99.push(await publishBeside(stage, system, { single, batched }));
  });
  const ratio = ratioSpread(perSecond, singles);
  return {
    blocks: [
      `${itemCount.toLocaleString("en-US")} messages of ${itemBytes} bytes in a request, ${batchConnections} requests at a time, against ${singleConnections} connections that publish one by one; ${rounds} rounds. Single publishes at ${besidePerSecond}/s are measured while batches are sent.`,
      table(
        ["accepted/s", "÷ single", "answer p99, ms", "publish p99 meanwhile, ms"],
        [
          [
            spread(spreadOf(perSecond)),
            spread(ratio),
            spread(spreadOf(answerMs)),
            spread(spreadOf(besideP99)),
          ],
        ],
      ),
    ],
    goals: [
      atLeast("batches accepted/s ÷ 64 single publishers", ratio?.median, 1.8),
      atMost("p99 of a batch's answer", spreadOf(answerMs)?.median, 150, " ms"),
      atMost("p99 of a publish during batches", spreadOf(besideP99)?.median, 40, " ms"),
    ],
  };
}

type Templates = Readonly<Record<"single" | "batched", ReturnType<typeof publishTemplate>>>;

async function publishBeside(
  stage: Stage,
  { name, port }: System,
  { single, batched }: Templates,
): Promise<number> {
  const many = stage.books.open(batchedMax);
  const few = stage.books.open((besidePerSecond * besideMs) / 1000);
  await Promise.all([
    closedLoop({ port, template: batched }, many, { connections: 1, forMs: besideMs }),
    openLoop({ port, template: single }, few, {
      perSecond: besidePerSecond,
      forMs: besideMs,
      connections: besideConnections,
    }),
  ]);
  await stage.settle(name, few, drainMsMax);
  await stage.settle(name, many, drainMsMax);
  return percentile(few.publishMs(), 0.99);
}
