import { dataFolder } from "../folders.ts";
import { publishTemplate } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, spread, table } from "../report/markdown.ts";
import { seedFolder } from "../seeding/seed.ts";
import { ratioSpread, spreadOf } from "../statistics.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { measureThroughput, type Throughput } from "./measure.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const few = 10_000;
const seedMsMax = 30_000;
const publishMs = 2_000;
const warmUpMs = 1_000;

export const growth: Scenario = {
  name: "growth",
  title: "After many finished messages",
  budgetMs: 52_000,
  run: async (stage) => {
    const folders = [dataFolder(), dataFolder()] as const;
    try {
      return await run(stage, folders[0].path, folders[1].path);
    } finally {
      // The processes stop before their folders are removed.
      await stage.stopAll();
      for (const folder of folders) folder.remove();
    }
  },
};

async function run(stage: Stage, smallPath: string, largePath: string): Promise<Findings> {
  const template = publishTemplate(await stage.destination());
  const { finishedWanted } = stage;
  const seeded = await stage.attempt("posthaste", async () => {
    const what = "finished";
    await seedFolder({ what, dataPath: smallPath, count: few, withinMs: seedMsMax });
    const withinMs = finishedWanted === undefined ? seedMsMax : hourMs;
    const count = finishedWanted ?? goalMessages;
    return seedFolder({ what, dataPath: largePath, count, withinMs });
  });
  if (seeded === undefined) return { blocks: ["Not measured."] };
  if (seeded < goalMessages) {
    stage.note(
      `${seeded.toLocaleString("en-US")} finished messages, not 10 M: the number that ${seedMsMax / 1000} s of seeding made (\`npm run bench -- growth --finished ${goalMessages}\` makes all)`,
    );
  }
  const small = await stage.start("posthaste", () => startPosthaste({ dataPath: smallPath }));
  const large = await stage.start("posthaste", () => startPosthaste({ dataPath: largePath }));
  if (small === undefined || large === undefined) return { blocks: ["Not measured."] };

  const afterFew: Throughput[] = [];
  const afterMany: Throughput[] = [];
  for (const system of [small, large]) {
    await measureThroughput(stage, system, { template, connections: 64, forMs: warmUpMs });
  }
  const load = { template, connections: 64, forMs: publishMs };
  const rounds = await stage.rounds(async () => {
    afterFew.push(await measureThroughput(stage, small, load));
    afterMany.push(await measureThroughput(stage, large, load));
  });
  const ratio = ratioSpread(cpu(afterMany), cpu(afterFew));
  const row = (messages: number, results: readonly Throughput[]) => [
    messages.toLocaleString("en-US"),
    spread(spreadOf(cpu(results))),
    spread(spreadOf(results.map((one) => one.deliveredPerSecond))),
  ];
  return {
    blocks: [
      `Two instances in turn, ${rounds} rounds, 64 connections; the finished messages were written by calls of the store, and are stored as delivered messages are. CPU per message after many ÷ after few: ${spread(ratio)}.`,
      table(
        ["finished before", "CPU µs/message", "delivered/s"],
        [row(few, afterFew), row(seeded, afterMany)],
      ),
    ],
    goals: [
      atMost(
        `CPU per message after ${figure(seeded)} finished messages ÷ after 10 k`,
        ratio?.median,
        1.2,
      ),
    ],
  };
}

const goalMessages = 10_000_000;
const hourMs = 3_600_000;

const cpu = (results: readonly Throughput[]) => results.map((one) => one.cpuUsPerMessage);
