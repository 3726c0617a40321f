/** Measures another tenant's publishes beside callers that ask for the most expensive operations. */
import { dataFolder } from "../folders.ts";
import { openLoop } from "../load/senders.ts";
import { startCallers } from "../load/callers.ts";
import { publishTemplate, secondTenant } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { seedFolder } from "../seeding/seed.ts";
import { percentile } from "../statistics.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { type System } from "../systems/system.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";
import { ask, type Way, ways } from "./ways.ts";

const perSecond = 50;
const forMs = 4_000;
const connections = 16;
const p99GoalMs = 250;
/** The memory limit of a gateway's container in the chart. */
const residentGoalMiB = 512;
const seedMsMax = 60_000;
const setUpAtOnce = 16;

export const neighbours: Scenario = {
  name: "neighbours",
  title: "One caller beside another",
  budgetMs: 240_000,
  budgetWithBeforeMs: 480_000,
  isAsked: true,
  run,
};

async function run(stage: Stage): Promise<Findings> {
  const roots = stage.before === undefined ? [undefined] : [stage.before, undefined];
  const rows: string[][] = [];
  const worst = { p99Ms: 0, residentMiB: 0 };
  for (const way of ways) {
    for (const root of roots) {
      stage.say(`${way.what}${root === undefined ? "" : ", before"}`);
      const found = await measure(stage, way, root);
      if (found === undefined) return { blocks: ["Not measured."] };
      rows.push([
        way.what,
        String(way.callers),
        root === undefined ? "now" : "before",
        figure(found.alone),
        found.died ? "it died" : figure(found.beside),
        figure(found.residentMiB),
        figure(found.answered / (forMs / 1_000)),
      ]);
      if (root !== undefined) continue;
      worst.p99Ms = Math.max(worst.p99Ms, found.died ? Number.MAX_VALUE : found.beside);
      worst.residentMiB = Math.max(worst.residentMiB, found.residentMiB);
    }
  }
  return {
    blocks: [
      `${perSecond} publishes a second of another tenant for ${forMs / 1_000} s, alone and beside callers that each ask again as soon as they are answered. Publish → answer.`,
      table(
        ["what they ask for", "callers", "", "p99 ms alone", "beside", "resident MiB", "asked/s"],
        rows,
      ),
    ],
    goals: [
      atMost("p99 of another tenant's publish, the worst of all ways, ms", worst.p99Ms, p99GoalMs),
      atMost("resident MiB, the worst of all ways", worst.residentMiB, residentGoalMiB),
    ],
  };
}

type Found = {
  readonly alone: number;
  readonly beside: number;
  readonly died: boolean;
  readonly residentMiB: number;
  readonly answered: number;
};

async function measure(
  stage: Stage,
  way: Way,
  root: string | undefined,
): Promise<Found | undefined> {
  const folder = dataFolder();
  const { path: dataPath } = folder;
  try {
    if (way.finished !== undefined) {
      const seeding = { what: "finished", dataPath, withinMs: seedMsMax } as const;
      await seedFolder({ ...seeding, count: way.finished });
    }
    const system = await stage.start("posthaste", () =>
      startPosthaste({ dataPath, ...(root === undefined ? {} : { root }) }),
    );
    if (system === undefined) return undefined;
    if (way.before !== undefined) await sendAll(system, way.before);
    const alone = await publishes(stage, system);
    const callers = startCallers(system, { of: "neighbours", nth: ways.indexOf(way) });
    const beside = await publishes(stage, system).catch(() => undefined);
    const { residentMiB, answered } = await callers.stop();
    return {
      alone,
      beside: beside ?? Number.NaN,
      died: beside === undefined,
      residentMiB,
      answered,
    };
  } finally {
    await stage.stopAll();
    folder.remove();
  }
}

async function publishes(stage: Stage, { port, name }: System): Promise<number> {
  const sink = await stage.sink();
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`, secondTenant);
  const book = stage.books.open((perSecond * forMs) / 1_000);
  await openLoop({ port, template }, book, { perSecond, forMs, connections });
  await stage.settle(`${name}, another tenant`, book);
  return percentile(book.publishMs(), 0.99);
}

async function sendAll(
  system: System,
  { count, request }: NonNullable<Way["before"]>,
): Promise<void> {
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const answer = await ask(system.port, request(next++));
      if (!answer.ok) throw new Error(`setting up was answered ${await answer.text()}`);
    }
  };
  await Promise.all(Array.from({ length: setUpAtOnce }, worker));
}
