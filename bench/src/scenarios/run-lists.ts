import { dataFolder } from "../folders.ts";
import { token } from "../load/template.ts";
import { atMost } from "../report/goals.ts";
import { figure, table } from "../report/markdown.ts";
import { seedFolder } from "../seeding/seed.ts";
import { percentile } from "../statistics.ts";
import { startPosthaste } from "../systems/posthaste.ts";
import { type Findings, type Scenario } from "./scenario.ts";
import { type Stage } from "./stage.ts";

const goalRuns = 1_000_000;
const seedMsMax = 20_000;
const hourMs = 3_600_000;
const requests = 50;
const page = 50;

const lists = [
  ["the newest", ""],
  ["of a label that each hundredth has", "&label=label-7"],
  ["of a URL", "&workflowUrl=http://127.0.0.1:9999/run"],
  ["of one id", "&workflowRunId=wfr_7"],
] as const;

export const runLists: Scenario = {
  name: "run-lists",
  title: "Lists of runs",
  budgetMs: 35_000,
  run: async (stage) => {
    const folder = dataFolder();
    try {
      return await run(stage, folder.path);
    } finally {
      // The processes stop before their folder is removed.
      await stage.stopAll();
      folder.remove();
    }
  },
};

async function run(stage: Stage, dataPath: string): Promise<Findings> {
  const { finishedWanted: wanted } = stage;
  const withinMs = wanted === undefined ? seedMsMax : hourMs;
  const count = wanted ?? goalRuns;
  const seeded = await stage.attempt("posthaste", () =>
    seedFolder({ what: "runs", dataPath, count, withinMs }),
  );
  const system = seeded && (await stage.start("posthaste", () => startPosthaste({ dataPath })));
  if (!system) return { blocks: ["Not measured."] };
  if (seeded < goalRuns)
    stage.note(
      `${seeded.toLocaleString("en-US")} runs, not 1 M: as many as ${seedMsMax / 1000} s of seeding gave (\`npm run bench -- run-lists --finished ${goalRuns}\` takes the time for all)`,
    );
  const rows: string[][] = [];
  let worst = 0;
  for (const [what, query] of lists) {
    const times = await timed(system.port, query);
    worst = Math.max(worst, percentile(times, 0.5));
    rows.push([what, figure(percentile(times, 0.5)), figure(percentile(times, 0.99))]);
  }
  return {
    blocks: [
      `\`GET /v2/workflows/logs?count=${page}\` of ${seeded.toLocaleString("en-US")} runs with their steps, one request after the other.`,
      table([`${page} runs`, "p50 ms", "p99 ms"], rows),
    ],
    goals: [atMost(`ms of a list of ${page} runs among ${figure(seeded)}`, worst, 50)],
  };
}

async function timed(port: number, query: string): Promise<Float64Array> {
  const times: number[] = [];
  for (let n = 0; n < requests; n++) {
    const startedAt = performance.now();
    const answered = await fetch(
      `http://127.0.0.1:${port}/v2/workflows/logs?count=${page}${query}`,
      {
        headers: { authorization: `Bearer ${token}` },
      },
    );
    const text = await answered.text();
    if (!answered.ok) throw new Error(`a list of runs: ${text}`);
    times.push(performance.now() - startedAt);
  }
  return Float64Array.from(times).toSorted();
}
