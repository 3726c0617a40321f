/** Measures how soon lists of 300,000 begin under each of their filters, and the delay of publishes beside them. */
import { setTimeout as pause } from "node:timers/promises";
import { dataFolder } from "../folders.ts";
import { startCallers } from "../load/callers.ts";
import { openLoop } from "../load/senders.ts";
import { publishTemplate } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { seedFolder } from "../seeding/seed.ts";
import { percentile } from "../statistics.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { type System } from "../systems/system.ts";
import { lists as asked } from "./list-ways.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";
import { ask } from "./ways.ts";

const wanted = 300_000;
const seedMsMax = 100_000;
const requests = 15;
const beginsMsGoal = 100;
const besideGoal = 1.5;
const perSecond = 100;
const forMs = 2_000;
const connections = 8;
/** A page that begins sooner costs other callers almost nothing. */
const slowMs = 10;
const tooMany = 429;

export const lists: Scenario = {
  name: "lists",
  title: "Lists under each filter",
  budgetMs: 240_000,
  isAsked: true,
  run: async (stage) => {
    const folder = dataFolder();
    try {
      return await run(stage, folder.path);
    } finally {
      await stage.stopAll();
      folder.remove();
    }
  },
};

async function run(stage: Stage, dataPath: string): Promise<Findings> {
  const count = stage.finishedWanted ?? wanted;
  const seeded = await seedFolder({ what: "lists", dataPath, count, withinMs: seedMsMax });
  const runs = await seedFolder({ what: "runs", dataPath, count, withinMs: seedMsMax });
  const system = await stage.start("posthaste", () => startPosthaste({ dataPath }));
  if (!system) return { blocks: ["Not measured."] };
  const rows: string[][] = [];
  const alone = await publishes(stage, system);
  let [slowest, worst] = [0, 0];
  for (const [nth, { what, path }] of asked.entries()) {
    stage.say(what);
    const { times, found, goesOn } = await begins(system, path);
    const p50 = percentile(times, 0.5);
    slowest = Math.max(slowest, p50);
    const beside = p50 < slowMs ? undefined : await besideCaller(stage, system, nth);
    worst = Math.max(worst, (beside ?? 0) / alone);
    rows.push([
      ...[what, figure(p50), figure(percentile(times, 0.99))],
      ...[String(found), goesOn ? "yes" : "no", beside === undefined ? "" : figure(beside)],
    ]);
  }
  return {
    blocks: [
      `The first page of 50 among ${seeded.toLocaleString("en-US")} messages that were delivered, as many dead letters and ${runs.toLocaleString("en-US")} runs; then ${perSecond} publishes a second for ${forMs / 1_000} s beside a caller that asks for it again and again, where it takes more than ${slowMs} ms. Alone their p99 is ${figure(alone)} ms.`,
      table(["list", "p50 ms", "p99 ms", "found", "goes on", "p99 ms of publishes beside"], rows),
    ],
    goals: [
      atMost("ms until the first page, the slowest filter's p50", slowest, beginsMsGoal),
      atMost("p99 of publishes beside, in times of alone, the worst", worst, besideGoal),
    ],
  };
}

async function begins({ port }: System, path: string) {
  const times: number[] = [];
  let found = 0;
  let goesOn = false;
  while (times.length < requests) {
    const startedAt = performance.now();
    const answered = await ask(port, { path });
    const page = Object(await answered.json()) as Readonly<Record<string, unknown>>;
    const tookMs = performance.now() - startedAt;
    if (answered.status === tooMany) {
      // Waits for the next second of the plan's limit.
      await pause(1_000);
      continue;
    }
    if (!answered.ok) throw new Error(`${path}: ${answered.status}`);
    times.push(tookMs);
    const items = [page["events"], page["messages"], page["runs"]].find(Array.isArray);
    found = items?.length ?? 0;
    goesOn = Boolean(page["cursor"]);
  }
  return { times: Float64Array.from(times).toSorted(), found, goesOn };
}

async function besideCaller(stage: Stage, system: System, nth: number): Promise<number> {
  const callers = startCallers(system, { of: "lists", nth });
  const beside = await publishes(stage, system);
  await callers.stop();
  return beside;
}

async function publishes(stage: Stage, { port, name }: System): Promise<number> {
  const sink = await stage.sink();
  const template = publishTemplate(`http://127.0.0.1:${sink.port}/x`);
  const book = stage.books.open((perSecond * forMs) / 1_000);
  await openLoop({ port, template }, book, { perSecond, forMs, connections });
  await stage.settle(name, book);
  return percentile(book.publishMs(), 0.99);
}
