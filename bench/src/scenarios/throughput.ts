/** Measures messages per second, and the cost of each. With `--before <folder>`, takes turns with an earlier commit only. */
import { atLeast, type Goal } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { publishTemplate, type Template } from "../load/template.ts";
import { ratioSpread, spreadOf } from "../statistics.ts";
import { allSystems, least, leastInThreads, posthaste, relay } from "../systems/all.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { type StartSystem, type System, type SystemName } from "../systems/system.ts";
import { cpuMs, residentMiB } from "../systems/usage.ts";
import { measureThroughput, type Throughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const connectionCounts = [64, 256] as const;
/** Until the compiler has settled. */
const warmUpMs = 6_000;
const publishMs = 2_000;

export const throughput: Scenario = {
  name: "throughput",
  title: "Maximum throughput",
  budgetMs: 215_000,
  budgetWithBeforeMs: 240_000,
  run: (stage) => (stage.before === undefined ? amongPeers(stage) : beside(stage, stage.before)),
};

type Runs = Map<SystemName, Throughput[]>;

async function amongPeers(stage: Stage): Promise<Findings> {
  const template = await templateOf(stage);
  const systems = await stage.startAll([...allSystems, least, leastInThreads]);
  for (const system of systems) {
    await measureThroughput(stage, system, { template, connections: 64, forMs: warmUpMs });
  }
  const cpuAtStart = new Map(systems.map((system) => [system, cpuMs(system.pids)]));

  const blocks: string[] = [];
  const goals: Goal[] = [];
  const arrivedInAll = new Map<System, number>();
  for (const [index, connections] of connectionCounts.entries()) {
    const runs: Runs = new Map(systems.map(({ name }) => [name, []]));
    const rounds = await stage.rounds(
      async (round) => {
        // The order alternates, since a system may leave work to the next one's turn.
        for (const system of round % 2 === 0 ? systems : systems.toReversed()) {
          const result = await measureOnce(stage, system, template, connections);
          runs.get(system.name)?.push(result);
          arrivedInAll.set(system, (arrivedInAll.get(system) ?? 0) + result.arrived);
        }
      },
      1 / (connectionCounts.length - index),
    );
    blocks.push(`**Closed loop, ${connections} connections**, ${rounds} rounds`, resultTable(runs));
    if (index === 0) goals.push(...goalsOf(runs));
  }

  blocks.push(
    "CPU until the process ended, including later work (sweeps of finished records, checkpoints): " +
      systems
        .map((system) => {
          const usedMs = cpuMs(system.pids) - (cpuAtStart.get(system) ?? 0);
          const perMessage = (usedMs * 1000) / (arrivedInAll.get(system) ?? Number.NaN);
          return `${system.name} ${figure(perMessage)} µs per message, ${figure(residentMiB(system.pids))} MiB resident`;
        })
        .join("; ") +
      ".",
  );
  return { blocks, goals };
}

/**
 * Takes turns with an earlier commit, each time with new processes: one keeps its pace as long as it lives, and two of the same commit
 * differ by up to a tenth.
 */
async function beside(stage: Stage, before: string): Promise<Findings> {
  const template = await templateOf(stage);
  const starts: readonly (readonly [SystemName, StartSystem])[] = [
    relay,
    posthaste,
    ["posthaste, before", (options) => startPosthaste({ ...options, root: before })],
  ];
  const runsOf = new Map(
    connectionCounts.map((connections): [number, Runs] => [
      connections,
      new Map(starts.map(([name]) => [name, []])),
    ]),
  );
  const rounds = await stage.rounds(async (round) => {
    for (const start of round % 2 === 0 ? starts : starts.toReversed()) {
      const system = await stage.start(...start);
      if (system === undefined) continue;
      await measureThroughput(stage, system, { template, connections: 64, forMs: warmUpMs });
      for (const [connections, runs] of runsOf)
        runs.get(system.name)?.push(await measureOnce(stage, system, template, connections));
      await stage.stop(system);
    }
  });
  const blocks = [...runsOf].flatMap(([connections, runs]) => [
    `**Closed loop, ${connections} connections**, ${rounds} rounds, each with new processes`,
    resultTable(runs),
  ]);
  return { blocks, goals: goalsOf(runsOf.get(connectionCounts[0]) ?? new Map()) };
}

async function templateOf(stage: Stage): Promise<Template> {
  return publishTemplate(await stage.destination());
}

async function measureOnce(
  stage: Stage,
  system: System,
  template: Template,
  connections: number,
): Promise<Throughput> {
  const load = { template, connections, forMs: publishMs };
  const result = await measureThroughput(stage, system, load);
  stage.say(`${system.name}, ${connections} connections: ${figure(result.deliveredPerSecond)}/s`);
  return result;
}

function resultTable(runs: Runs): string {
  const [relay] = runs.values();
  const rows = [...runs].map(([name, results]) => [
    name,
    spread(spreadOf(delivered(results))),
    spread(ratioSpread(delivered(results), delivered(relay ?? []))),
    spread(spreadOf(cpu(results))),
    spread(ratioSpread(cpu(results), cpu(relay ?? []))),
    spread(spreadOf(results.map((result) => result.acceptedPerSecond))),
  ]);
  const head = ["system", "delivered/s", "÷ relay", "CPU µs/message", "÷ relay", "accepted/s"];
  return table(head, rows);
}

function goalsOf(runs: Runs): readonly Goal[] {
  const of = (name: SystemName) => delivered(runs.get(name) ?? []);
  const againstRelay = ratioSpread(of("posthaste"), of("bare relay"))?.median;
  const earlier = of("posthaste, before");
  const againstBefore = ratioSpread(of("posthaste"), earlier)?.median;
  if (earlier.length > 0) return [atLeast("delivered/s ÷ before", againstBefore, 0.98)];
  const againstBullMq = ratioSpread(of("posthaste"), of("BullMQ"))?.median;
  return [
    atLeast("delivered/s ÷ bare relay", againstRelay, 0.8),
    atLeast("delivered/s ÷ bare relay, with threads if needed,", againstRelay, 1),
    atLeast("delivered/s ÷ BullMQ", againstBullMq, 2.3),
  ];
}

const delivered = (results: readonly Throughput[]) => results.map((one) => one.deliveredPerSecond);
const cpu = (results: readonly Throughput[]) => results.map((one) => one.cpuUsPerMessage);
