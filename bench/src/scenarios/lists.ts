/** Measures how soon long lists begin under each of their filters, and the delay of publishes beside them. */
import { setTimeout as pause } from "node:timers/promises";
import { dataFolder } from "../folders.ts";
import { ask, startCaller } from "../load/caller.ts";
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

const wanted = 300_000;
const seedMsMax = 100_000;
const hourMs = 3_600_000;
const requests = 15;
const beginsMsGoal = 100;
const besideGoal = 1.5;
const perSecond = 100;
const forMs = 2_000;
/** How often publishes alone and publishes beside take turns. The host's own speed changes within seconds. */
const turns = 3;
const connections = 8;
/** A page that begins sooner costs other callers almost nothing. */
const slowMs = 10;
const tooMany = 429;

export const lists: Scenario = {
  name: "lists",
  title: "Lists under each filter",
  budgetMs: 480_000,
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
  const { finishedWanted } = stage;
  const withinMs = finishedWanted === undefined ? seedMsMax : hourMs;
  const count = finishedWanted ?? wanted;
  const seeded = await seedFolder({ what: "lists", dataPath, count, withinMs });
  const runs = await seedFolder({ what: "runs", dataPath, count, withinMs });
  const system = await stage.start("posthaste", () => startPosthaste({ dataPath }));
  if (!system) return { blocks: ["Not measured."] };
  const rows: string[][] = [];
  // The first publishes open connections and fill caches.
  await publishes(stage, system);
  let [slowest, worst] = [0, 0];
  for (const { what, path } of asked) {
    stage.say(what);
    const { times, found, goesOn } = await begins(system, path);
    const p50 = percentile(times, 0.5);
    slowest = Math.max(slowest, p50);
    const { alone, beside } = p50 < slowMs ? {} : await inTurns(stage, system, path);
    if (alone && beside) worst = Math.max(worst, beside / alone);
    rows.push([
      ...[what, figure(p50), figure(percentile(times, 0.99)), String(found), goesOn ? "yes" : "no"],
      ...[alone, beside].map((ms) => (ms === undefined ? "" : figure(ms))),
    ]);
  }
  return {
    blocks: [
      `The first page of 50 among ${seeded.toLocaleString("en-US")} delivered messages, as many dead letters and ${runs.toLocaleString("en-US")} runs; then, for a page slower than ${slowMs} ms, ${perSecond} publishes a second for ${forMs / 1_000} s alone and as many beside a caller that repeats the list, ${turns} times in turns.`,
      table(
        [
          "list",
          "p50 ms",
          "p99 ms",
          "found",
          "has more",
          "publishes alone, p99 ms",
          "beside, p99 ms",
        ],
        rows,
      ),
    ],
    goals: [
      atMost("ms until the first page, the slowest filter's p50", slowest, beginsMsGoal),
      atMost("p99 of publishes beside ÷ alone, the worst filter", worst, besideGoal),
    ],
  };
}

async function begins({ port }: System, path: string) {
  const times: number[] = [];
  let found = 0;
  let goesOn = false;
  while (times.length < requests) {
    const startedAt = performance.now();
    const answered = await ask(port, path);
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

/** Returns the p99 of publishes alone and of those beside a caller of a list, in ms, each over all turns. */
async function inTurns(stage: Stage, system: System, path: string) {
  const alone: number[] = [];
  const beside: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    alone.push(...(await publishes(stage, system)));
    const caller = startCaller(system, path);
    beside.push(...(await publishes(stage, system)));
    await caller.terminate();
  }
  const p99 = (times: readonly number[]) => percentile(Float64Array.from(times).toSorted(), 0.99);
  return { alone: p99(alone), beside: p99(beside) };
}

async function publishes(stage: Stage, { port, name }: System): Promise<Float64Array> {
  const template = publishTemplate(await stage.destination());
  const book = stage.books.open((perSecond * forMs) / 1_000);
  await openLoop({ port, template }, book, { perSecond, forMs, connections });
  await stage.settle(name, book);
  return book.publishMs();
}
