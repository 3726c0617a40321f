/** Measures a queue of one at a time and a wide one: the rate, and the cost of a turn. */
import { closedLoop } from "../load/senders.ts";
import { type PublishHeaders, publishTemplate, token } from "../load/template.ts";
import { atLeast, atMost } from "../report/goals.ts";
import { spread, table } from "../report/markdown.ts";
import { ratioSpread, spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { cpuMs } from "../systems/usage.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

export const narrow = "narrow";
const wide = "wide";
const wideParallelism = 1_000;
const messages = 4_000;
const connections = 64;
const drainMsMax = 30_000;

export const queues: Scenario = {
  name: "queues",
  title: "FIFO queues",
  budgetMs: 40_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  await putQueue(system, wide, wideParallelism);
  const plain: Measured = { perSecond: [], cpuUs: [] };
  const inWide: Measured = { perSecond: [], cpuUs: [] };
  const inNarrow: Measured = { perSecond: [], cpuUs: [] };
  const rounds = await stage.rounds(async () => {
    await measure(stage, system, plain, {});
    await measure(stage, system, inWide, { "Service-Queue-Name": wide });
    await measure(stage, system, inNarrow, { "Service-Queue-Name": narrow });
  });
  const row = (what: string, { perSecond, cpuUs }: Measured) => [
    what,
    spread(spreadOf(perSecond)),
    spread(spreadOf(cpuUs)),
  ];
  const ratio = ratioSpread(inWide.cpuUs, plain.cpuUs);
  return {
    blocks: [
      `${messages.toLocaleString("en-US")} messages from ${connections} connections to a destination that answers at once: without a queue, in one of parallelism ${wideParallelism}, and in one of parallelism 1; ${rounds} rounds.`,
      table(
        ["", "delivered/s", "CPU µs/message"],
        [row("no queue", plain), row("wide", inWide), row("one at a time", inNarrow)],
      ),
    ],
    goals: [
      atLeast("delivered/s of one queue, one at a time", spreadOf(inNarrow.perSecond)?.median, 500),
      atMost("CPU of a message in a queue ÷ plain", ratio?.median, 3),
    ],
  };
}

type Measured = { readonly perSecond: number[]; readonly cpuUs: number[] };

async function measure(
  stage: Stage,
  system: System,
  into: Measured,
  headers: PublishHeaders,
): Promise<void> {
  const { perSecond, cpuUs } = await measureQueued(stage, system, headers, messages);
  into.perSecond.push(perSecond);
  into.cpuUs.push(cpuUs);
}

/** Measures `count` messages with these headers. In the narrow queue only one may run at a time. */
export async function measureQueued(
  stage: Stage,
  system: System,
  headers: PublishHeaders,
  count: number,
): Promise<{ readonly perSecond: number; readonly cpuUs: number }> {
  const sink = await stage.sink();
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`, headers);
  const book = stage.books.open(count);
  const cpuBefore = cpuMs(system.pids);
  await closedLoop({ port: system.port, template }, book, { connections, forMs: drainMsMax });
  const { arrived } = await stage.settle(system.name, book, drainMsMax);
  if (headers["Service-Queue-Name"] === narrow && sink.runningMax > 1)
    stage.fault(`${sink.runningMax} calls of a queue of one at a time ran at once`);
  return {
    perSecond: (arrived * 1000) / (book.lastArrivedAt - book.firstSentAt),
    cpuUs: ((cpuMs(system.pids) - cpuBefore) * 1000) / arrived,
  };
}

async function putQueue({ port }: System, queueName: string, parallelism: number): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/v2/queues`, {
    method: "POST",
    headers: { Authorization: `Bearer ${token}` },
    body: JSON.stringify({ queueName, parallelism }),
  });
  if (!response.ok) throw new Error(`the queue was not made: ${response.status}`);
}
