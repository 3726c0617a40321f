/** Measures the cost of the load generator and the destination themselves, which share the host with the measured system. */
import { figure, spread } from "../report/markdown.ts";
import { publishTemplate } from "../load/template.ts";
import { spreadOf } from "../statistics.ts";
import { type System } from "../systems/system.ts";
import { measureThroughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const publishMs = 1_000;

export const instrument: Scenario = {
  name: "instrument",
  title: "The instrument",
  budgetMs: 8_000,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const sink = await stage.sink();
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`);
  // The sink stands in for the system: an answer counts as the answer, and the request as the arrival.
  const itself: System = {
    name: "bare relay",
    port: sink.port,
    pids: [process.pid],
    stop: async () => undefined,
  };
  const cpuUs: number[] = [];
  const perSecond: number[] = [];
  await stage.rounds(async () => {
    const load = { template, connections: 64, forMs: publishMs };
    const result = await measureThroughput(stage, itself, load);
    cpuUs.push(result.cpuUsPerMessage);
    perSecond.push(result.deliveredPerSecond);
  });
  const cost = spreadOf(cpuUs);
  return {
    blocks: [
      `Load generator and destination are one process of raw sockets. Connected to itself, it sends and receives ${spread(spreadOf(perSecond))} messages per second at ${spread(cost)} µs of CPU each. With a system between, each message costs it one more read and write: about ${figure((cost?.median ?? Number.NaN) * 2)} µs.`,
    ],
  };
}
