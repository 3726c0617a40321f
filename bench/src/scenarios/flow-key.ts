/** Measures one hot flow key: all messages want the same few slots. */
import { closedLoop } from "../load/senders.ts";
import { publishTemplate } from "../load/template.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { spreadOf } from "../statistics.ts";
import { posthaste } from "../systems/all.ts";
import { type System } from "../systems/system.ts";
import { cpuMs } from "../systems/usage.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const parallelism = 10;
const answerMs = 5;
const messages = 4_000;
const drainMsMax = 30_000;

export const flowKey: Scenario = {
  name: "flow-key",
  title: "One hot flow-control key",
  budgetMs: 24_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const system = await stage.start(...posthaste);
  if (system === undefined) return { blocks: ["Not measured."] };
  const free: Measured = { perSecond: [], cpuUs: [] };
  const keyed: Measured = { perSecond: [], cpuUs: [] };
  const rounds = await stage.rounds(async () => {
    await measure(stage, system, free, {});
    await measure(stage, system, keyed, {
      "Service-Flow-Control-Key": "hot",
      "Service-Flow-Control-Value": `parallelism=${parallelism}`,
    });
  });
  // An upper bound: setTimeout rounds up, so the destination itself allows slightly less.
  const possible = (parallelism * 1000) / answerMs;
  const row = (what: string, { perSecond, cpuUs }: Measured) => [
    what,
    spread(spreadOf(perSecond)),
    spread(spreadOf(cpuUs)),
  ];
  return {
    blocks: [
      `${messages.toLocaleString("en-US")} messages from 64 connections to a destination that answers after ${answerMs} ms, without a key and with one of parallelism ${parallelism}, which could let at most ${figure(possible)} per second through. ${rounds} rounds. The destination never saw more than ${parallelism} calls of the key at a time, or the run fails.`,
      table(["", "delivered/s", "CPU µs/message"], [row("no key", free), row("hot key", keyed)]),
    ],
  };
}

type Measured = { readonly perSecond: number[]; readonly cpuUs: number[] };

async function measure(
  stage: Stage,
  system: System,
  into: Measured,
  headers: Readonly<Record<string, string>>,
): Promise<void> {
  const sink = await stage.sink({ answerAfterMs: answerMs });
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`, headers);
  const book = stage.books.open(messages);
  const cpuBefore = cpuMs(system.pids);
  await closedLoop({ port: system.port, template }, book, { connections: 64, forMs: drainMsMax });
  const { arrived } = await stage.settle(system.name, book, drainMsMax);
  into.perSecond.push((arrived * 1000) / (book.lastArrivedAt - book.firstSentAt));
  into.cpuUs.push(((cpuMs(system.pids) - cpuBefore) * 1000) / arrived);
  const isKeyed = Object.keys(headers).length > 0;
  if (isKeyed && sink.runningMax > parallelism) {
    stage.fault(`${sink.runningMax} calls of a key with parallelism ${parallelism} ran at a time`);
  }
}
