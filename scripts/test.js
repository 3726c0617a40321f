// Runs the gates of the project, each with a time limit (`npm test`). The output ends with the longest files, then the line
// `N passed, N failed`.
//
//   npm test                     all gates
//   npm test -- types unit       some of them, by name
//   npm test -- static           the gates that run no test
//   npm test -- changed          the static gates, and the unit tests that reach a changed file; `changed libs/http`: its tests alone
//   npm run test:full            all gates; suites of either shape in both shapes, and five times the seeds
//
// Seeded choices change from day to day. The printed POSTHASTE_TEST_SEED repeats them. The reports of the gates, and their
// times in gates.json, are in .cache/reports.
//
// A static gate counts as one. A gate of tests counts its tests, and each suite that did not run as a failed one. A gate that
// was killed, left no report or failed without a failed test counts as one failed, too. On a busy host a test may be late
// although its promise holds: a failed file is run once more, alone, and if it passes, its tests are reported as UNSTEADY.
// Handles that a gate leaves open after its tests are reported as LEFT OPEN, and fail every gate except those over real
// processes.
//
// A gate whose servers cannot run on this host, for example without Java, is reported as SKIPPED with the reason. With CI=true
// it fails.
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changedFiles } from "./changed.js";
import { countStatic, countTests } from "./gates/count.js";
import {
  answersFolder,
  fullFlag,
  niceness,
  reports,
  root,
  seed,
  staticGates,
  testGates,
  workersMax,
} from "./gates/list.js";
import { run } from "./gates/run.js";
import { countWithoutServers, fetchServers, startServers } from "./gates/servers.js";

const longestFilesMax = 10;
const began = performance.now();

const asked = process.argv.slice(2).filter((name) => name !== fullFlag);
const { passed, failed } = await runGates(asked).catch((error) => {
  console.log(error);
  return { passed: 0, failed: 1 };
});
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function runGates(asked) {
  const [first, ...folders] = asked;
  const isOfChanges = first === "changed";
  const names = [...staticGates, ...testGates].map(({ name }) => name);
  const known = new Set(["static", ...names]);
  const unknown = isOfChanges
    ? folders.filter((folder) => !existsSync(join(root, folder)))
    : asked.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    const kind = isOfChanges ? "folder" : "gate";
    const others = isOfChanges ? "" : `; there are ${[...known].join(", ")}`;
    console.log(`no ${kind} is called ${unknown.join(", ")}${others}`);
    return { passed: 0, failed: unknown.length };
  }
  const isAsked = ({ name, report }) =>
    asked.length === 0 || asked.includes(name) || (!report && asked.includes("static"));
  const gates = isOfChanges
    ? gatesOfChanges(folders)
    : [...staticGates, ...testGates].filter(isAsked);

  console.log(`     seed ${seed}`);
  const filling = gates.filter(({ fills }) => fills);
  const waiting = gates.filter(({ fills }) => !fills);
  const nice = waiting.length > 0 ? niceness : 0;
  const counts = [];
  const count = async (counted) => counts.push(await counted);
  // Static gates use one core each, a run of Jest uses two.
  const statics = filling.filter(({ report }) => !report);
  const work = async () => {
    for (let gate = statics.shift(); gate; gate = statics.shift())
      await count(runGate({ ...gate, nice }));
  };
  const fill = async () => {
    await Promise.all([work(), work()]);
    for (const gate of filling.filter(({ report }) => report))
      await count(runGate({ ...gate, nice }));
  };
  const needServers = waiting.some((gate) => gate.stores || gate.ownStores);
  const fetched = needServers ? fetchServers() : undefined;
  const wait = () => inTurn(waiting, (gate) => count(runGate(gate, fetched)));
  await Promise.all([fill(), wait()]);

  mkdirSync(reports, { recursive: true });
  const took = counts.map(({ name, seconds, cpuSeconds, passed, failed }) => ({
    name,
    seconds,
    cpuSeconds,
    passed,
    failed,
  }));
  writeFileSync(join(reports, "gates.json"), `${JSON.stringify(took, null, 2)}\n`);
  const longest = counts
    .flatMap(({ durations = [] }) => durations)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, longestFilesMax);
  if (longest.length > 0) console.log(`     ${secondsSince(began)} s in all; the longest files:`);
  for (const { gate, file, seconds } of longest)
    console.log(`     ${seconds.toFixed(1).padStart(6)} s  ${gate.padEnd(10)}  ${file}`);

  const sum = (key) => counts.reduce((total, count) => total + count[key], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}

/** Runs gates that mostly wait, in their order, each as soon as those before it leave room for its workers. */
async function inTurn(gates, runOne) {
  const begun = new Map();
  const fits = ({ workers, after }) => {
    const others = [...begun.keys()];
    const busy = others.reduce((sum, other) => sum + other.workers, 0);
    return busy + workers <= workersMax && !others.some(({ name }) => name === after);
  };
  for (const gate of gates) {
    while (begun.size > 0 && !fits(gate)) await Promise.race(begun.values());
    begun.set(
      gate,
      runOne(gate).finally(() => begun.delete(gate)),
    );
  }
  await Promise.all(begun.values());
}

/**
 * Returns the static gates, of changed files only where they can, and the unit tests that reach a changed file. `folders`:
 * where to look for tests; empty means everywhere.
 */
function gatesOfChanges(folders) {
  const files = changedFiles();
  const alone = ["--no-error-on-unmatched-pattern", ...files];
  const statics = staticGates
    .filter(({ perFile }) => !perFile || files.length > 0)
    .map((gate) => (gate.perFile ? { ...gate, args: [...gate.args, ...alone] } : gate));
  const sources = files.filter((file) => /\.[jt]s$/.test(file));
  if (sources.length === 0) return statics;
  const [unit] = testGates;
  const below = folders.map((folder) => RegExp.escape(join(root, folder, "/")));
  const elsewhere = below.length > 0 ? [`^(?!${below.join("|")})`] : [];
  const args = [...unit.args, ...elsewhere, "--passWithNoTests", "--findRelatedTests", ...sources];
  return [...statics, { ...unit, args, mayBeEmpty: true }];
}

async function runGate(gate, fetched) {
  const started = performance.now();
  const { trouble, env, stop } = await serversOf(gate, fetched);
  if (trouble) return countWithoutServers(gate, trouble);
  let cpuSecondsOfServers;
  const { count, exit, output, cpuSeconds } = await runTwice({
    ...gate,
    env: { ...gate.env, ...env },
  }).finally(async () => (cpuSecondsOfServers = await stop()));
  const seconds = secondsSince(started).padStart(6);

  const { passed, failed, skipped, durations } = count;
  const tests = gate.report ? `  ${passed} passed, ${failed} failed` : "";
  const cpuSecondsInAll = cpuSeconds === undefined ? undefined : cpuSeconds + cpuSecondsOfServers;
  const cpu =
    cpuSecondsInAll === undefined ? "" : `${cpuSecondsInAll.toFixed(0).padStart(5)} of CPU`;
  const ending = exit === "ok" ? "" : `  ${exit}`;
  for (const line of output.match(/^against: .*$/gm) ?? []) console.log(`     ${line}`);
  const state = failed ? "FAIL" : "ok  ";
  console.log(`${state} ${gate.name.padEnd(13)} ${seconds} s ${cpu}${tests}${ending}`);
  if (failed > 0) {
    // The summary comes first: the output may be cut, and Jest lists passed files before failed ones.
    for (const test of count.failedTests ?? []) console.log(`FAILED ${test}`);
    for (const reason of count.reasons ?? []) console.log(reason);
    console.log(output.trimEnd());
  }
  for (const name of skipped) console.log(`SKIPPED ${name}`);
  const { name } = gate;
  return { name, seconds: Number(seconds), cpuSeconds: cpuSecondsInAll, passed, failed, durations };
}

async function serversOf(gate, fetched) {
  if (gate.stores) return startServers(gate);
  return { trouble: gate.ownStores ? await fetched : undefined, stop: () => 0 };
}

/** Runs a gate, and its failed files once more. */
async function runTwice(gate) {
  if (gate.name === "end-to-end") rmSync(answersFolder, { recursive: true, force: true });
  if (gate.report) {
    mkdirSync(reports, { recursive: true });
    rmSync(gate.report, { force: true });
  }
  const first = await run(gate);
  const { exit, output, cpuSeconds } = first;
  const count = gate.report ? countTests(gate, exit) : countStatic(exit);
  if (!gate.report || count.failedFiles.length === 0) return { ...first, count };
  const again = await runAgain(gate, count);
  return {
    output,
    count: again.count ?? count,
    exit: again.count ? "ok" : exit,
    cpuSeconds: cpuSeconds === undefined ? undefined : cpuSeconds + again.cpuSeconds,
  };
}

function secondsSince(started) {
  return ((performance.now() - started) / 1000).toFixed(1);
}

/** Runs the failed files of a gate once more, alone. Returns the corrected count when they pass. */
async function runAgain(gate, count) {
  const { passedElsewhere, forbidden, failedTests, failedFiles, reasons, skipped, durations } =
    count;
  // The report of the first run is minutes old, and would look as if the second had ended long ago.
  rmSync(gate.report);
  const args = [...gate.run, "--runInBand", "--runTestsByPath", ...failedFiles];
  const { exit, cpuSeconds } = await run({ ...gate, args });
  const again = countTests(gate, exit);
  if (again.failed > 0) return { cpuSeconds };
  for (const test of failedTests) console.log(`UNSTEADY ${test}`);
  for (const reason of reasons) console.log(reason);
  return {
    cpuSeconds,
    count: { passed: passedElsewhere + again.passed, failed: forbidden, skipped, durations },
  };
}
