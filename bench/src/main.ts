/**
 * `npm run bench` runs every scenario but those that take minutes, and writes bench/REPORT.md. `npm run bench -- throughput`
 * runs one and prints it, and with `--keep` writes it into bench/asked. The exit code is 1 when a count is wrong (a message
 * lost, early or twice). A figure is never a failure.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { optionsOf, parseArguments } from "./arguments.ts";
import { askedFolder, profilesFolder, reportFile, repository } from "./folders.ts";
import { readProfiles } from "./profile/read.ts";
import { selfTimes } from "./profile/self-time.ts";
import { selfTimeTables } from "./profile/tables.ts";
import { readHost } from "./report/host.ts";
import { figure } from "./report/markdown.ts";
import { askedText, goalTable, report, type Section, sectionText } from "./report/report.ts";
import { type Scenario } from "./scenarios/scenario.ts";
import { Stage } from "./scenarios/stage.ts";
import { scenarios } from "./scenarios/table.ts";

/** A run ends within twenty-six minutes. The remaining time is for starting and stopping. */
const runMsMax = 1_500_000;
const scenarioMsMin = 10_000;

const asked = parseArguments(
  process.argv.slice(2),
  scenarios.map(({ name }) => name),
);
const isWhole = asked.scenarios.length === 0;
const startedAt = performance.now();
const renderHost = readHost();
const sections: Section[] = [];
for (const scenario of scenarios) {
  if (isWhole ? scenario.isAsked : !asked.scenarios.includes(scenario.name)) continue;
  sections.push(await play(scenario));
}
const tookMs = performance.now() - startedAt;
const date = new Date().toISOString().slice(0, 10);
const host = renderHost();
if (isWhole) {
  const kept = existsSync(askedFolder) ? readdirSync(askedFolder).toSorted() : [];
  writeFileSync(reportFile, report({ date, host, tookMs, asked: kept }, sections));
  console.error(`bench: wrote ${reportFile}`);
} else {
  console.log(sections.map(sectionText).join("\n\n"));
  if (asked.keep) mkdirSync(askedFolder, { recursive: true });
  for (const section of asked.keep ? sections : []) {
    const file = join(askedFolder, `${section.name}.md`);
    writeFileSync(file, askedText({ date, host, options: optionsOf(asked) }, section));
    console.error(`bench: wrote ${file}`);
  }
}
const goals = sections.flatMap((section) => section.goals);
if (goals.length > 0) console.log(`\n${goalTable(goals)}`);
for (const { title, notes, faults } of sections) {
  for (const note of notes) console.error(`bench: NOTE ${title}: ${note}`);
  for (const fault of faults) console.error(`bench: WRONG ${title}: ${fault}`);
  if (faults.length > 0) process.exitCode = 1;
}

async function play(scenario: Scenario): Promise<Section> {
  const { name, title, budgetWithBeforeMs } = scenario;
  const budgetMs = (asked.before && budgetWithBeforeMs) || scenario.budgetMs;
  console.error(`bench: ${name}`);
  const playedAt = performance.now();
  const leftMs = isWhole ? runMsMax - (playedAt - startedAt) : budgetMs;
  const profilePath = asked.profile ? join(profilesFolder, `${name}-${process.pid}`) : undefined;
  const stage = new Stage({
    budgetMs: Math.min(budgetMs, leftMs),
    ...(profilePath === undefined ? {} : { profilePath }),
    ...(asked.rounds === undefined ? {} : { rounds: asked.rounds }),
    ...(asked.finished === undefined ? {} : { finishedWanted: asked.finished }),
    ...(asked.before === undefined ? {} : { before: asked.before }),
  });
  if (isWhole && leftMs < scenarioMsMin) {
    stage.note("NOT measured: the time of the run was over");
    return {
      name,
      title,
      blocks: ["Not measured."],
      goals: [],
      notes: stage.notes,
      faults: [],
      tookMs: 0,
    };
  }
  const findings = await scenario.run(stage).catch((error: unknown) => {
    stage.fault(`the scenario stopped: ${Error.isError(error) ? error.message : String(error)}`);
    return { blocks: [], goals: [] };
  });
  await stage.close();
  if (profilePath !== undefined && existsSync(profilePath))
    printProfile(profilePath, stage.arrived);
  const tookMs = performance.now() - playedAt;
  const { notes, faults } = stage;
  const { blocks, goals = [] } = findings;
  return { name, title, blocks, goals, notes, faults, tookMs };
}

function printProfile(folder: string, messages: number): void {
  const times = selfTimes(readProfiles(folder), repository);
  console.log(`profile of ${figure(times.busyMs)} ms, kept in ${folder}\n`);
  console.log(selfTimeTables(times, messages).join("\n\n"));
}
