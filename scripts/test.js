// `npm test`: every gate of the project, each with a time limit. At the end it names the longest files, which shortening
// would help most; the last line says `N passed, N failed`.
//
//   npm test                     all gates
//   npm test -- types unit       some of them, by name
//   npm test -- static           all that run no test
//   npm test -- changed          those, and the unit tests that reach a changed file; `changed libs/http`: its tests alone
//   npm run test:full            all gates; suites of either shape in both shapes, and five times the seeds
//
// Seeded choices change from day to day. The printed POSTHASTE_TEST_SEED repeats them. The reports of the gates, and their
// times in gates.json, are in .cache/reports.
//
// A static gate counts as one. A gate of tests counts its tests, and each suite that did not run as a failed one. A gate that
// was killed, left no report or failed without a failed test counts as one failed, too: silence is no success. On a busy host
// a test may be late although a promise holds: a failed file is run once more, alone, and its tests are reported as UNSTEADY
// when it passes. A broken rule fails both times. Handles that a gate leaves open after its tests are reported as LEFT OPEN,
// and fail every gate but those over real processes.
//
// A gate whose servers this host cannot run, as without Java, is reported as SKIPPED with the reason. With CI=true it fails.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { constants, getPriority, setPriority } from "node:os";
import { basename, dirname, join, relative } from "node:path";
import { changedFiles } from "./changed.js";

const root = dirname(import.meta.dirname);
const reports = join(root, ".cache/reports");
const outputCharsMax = 200_000;
const reasonCharsMax = 2_000;
const longestFilesMax = 10;
const lingerMsMax = 10_000;
/** Includes fetching the servers that are not in the cache. */
const storesSecondsMax = 1_800;
const storesStopMsMax = 60_000;
/** The exit code of `npm run stack -- stores` and `-- fetch` when a program that they need is not installed. */
const lackExitCode = 3;
const isWithoutReader = process.env.CI === "true";
const fullFlag = "--full";
const isFull = process.argv.includes(fullFlag);
const dayMs = 24 * 3_600_000;
const seed = process.env.POSTHASTE_TEST_SEED ?? String(Math.floor(Date.now() / dayMs));
const seedEnv = { POSTHASTE_TEST_SEED: seed, POSTHASTE_TEST_FULL: String(isFull) };
/** The unit of CPU times in Linux's /proc. */
const clockTicksPerSecond = 100;
const tool = (path) => `node_modules/${path}`;

/** `perFile`: the gate accepts single files, and skips those that it does not check. */
const staticGates = [
  { name: "lint", args: [tool("oxlint/bin/oxlint"), "--quiet"], perFile: true },
  // Several checkers finish sooner on an idle host, but check shared files twice.
  { name: "types", args: [tool("typescript/bin/tsc"), "--noEmit", "--checkers", "1"] },
  { name: "types-of-apps", args: [tool("typescript/bin/tsc"), "--noEmit", "-p", "apps/console"] },
  { name: "format", args: [tool("oxfmt/bin/oxfmt"), "--check"], perFile: true },
  {
    name: "dependencies",
    args: [
      tool("dependency-cruiser/bin/dependency-cruiser.mjs"),
      ...["apps", "libs", "services", "tests", "examples", "bench", "deploy", "scripts"],
    ],
  },
  { name: "dead-code", args: [tool("knip/bin/knip.js"), "--no-config-hints"] },
  { name: "documents", args: ["scripts/generate.js", "--check"] },
].map((gate) => ({ ...gate, fills: true, secondsMax: 1_800 }));

const quiet = "--disable-warning=ExperimentalWarning";
/** On this signal Node writes a report of everything that its event loop waits for. */
const tellSignal = "SIGUSR2";
const tellMsMax = 3_000;
const tellsWhatIsOpen = (file) => [
  "--report-on-signal",
  `--report-signal=${tellSignal}`,
  `--report-directory=${dirname(file)}`,
  `--report-filename=${basename(file)}`,
  "--report-exclude-env",
];
const ofKind = (kind) => `\\.${kind}\\.test\\.ts$`;
/** Holds the answers seen by the suites of one gate, for the next gate to read. */
const answersFolder = join(reports, "answers");
const answersEnv = { POSTHASTE_TEST_ANSWERS: answersFolder };
const storesFile = join(root, ".cache/stores.json");
/** Gates that only compute are nicer by this much, so that no test of a gate that waits is late because of them. */
const niceness = 10;
/**
 * `fills`: needs a processor and nothing else, so it runs beside the gates that mostly wait, and takes what they leave.
 * `workers`: more than cores, where a gate mostly waits.
 * `stores`: runs over the servers of `npm run stack -- stores`.
 * `ownStores`: starts such servers itself.
 * `processes`: runs over real processes, which a host may end slowly.
 */
const testGates = [
  {
    name: "unit",
    skips: [ofKind("(sim|e2e|stack|cluster|deploy|answers)")],
    secondsMax: 1_800,
    fills: true,
  },
  { name: "simulation", only: ofKind("sim"), secondsMax: 1_800, fills: true },
  {
    name: "end-to-end",
    only: ofKind("e2e"),
    secondsMax: 1_200,
    processes: true,
    workers: 4,
    env: answersEnv,
    setup: ["start-standalones.ts", "stop-standalones.ts"],
  },
  { name: "answers", only: ofKind("answers"), secondsMax: 120, env: answersEnv },
  // Builds Helm and the checkers when they are not in the cache.
  {
    name: "deploy",
    only: ofKind("deploy"),
    // Suites that take minutes and hold no promise of the service.
    skips: isFull ? [] : [ofKind("full\\.deploy")],
    secondsMax: 2_400,
    fills: true,
    processes: true,
  },
  {
    name: "stores",
    only: ofKind("stack"),
    secondsMax: 1_200,
    processes: true,
    stores: true,
    workers: 4,
  },
  {
    name: "apart",
    only: ofKind("e2e"),
    // Suites independent of the shape run in one shape only, and those of the standalone in no other.
    skips: [ofKind(`${isFull ? "alone" : "(alone|either)"}\\.e2e`)],
    secondsMax: 1_800,
    processes: true,
    stores: true,
    workers: 4,
    env: { POSTHASTE_TEST_SHAPE: "distributed" },
    setup: ["start-services.ts", "stop-services.ts"],
  },
  {
    name: "cluster",
    only: ofKind("cluster"),
    skips: isFull ? [] : [ofKind("full\\.cluster")],
    secondsMax: 2_700,
    processes: true,
    ownStores: true,
    workers: 3,
  },
].map(({ only, skips = [], workers = 2, setup: [start, stop] = [], ...gate }) => {
  const report = join(reports, `${gate.name}.json`);
  const open = join(reports, `${gate.name}.open.json`);
  const run = [
    quiet,
    ...tellsWhatIsOpen(open),
    tool("jest/bin/jest.js"),
    "--ci",
    "--json",
    "--outputFile",
    report,
    ...(start ? ["--globalSetup", `./tests/e2e/${start}`] : []),
    ...(stop ? ["--globalTeardown", `./tests/e2e/${stop}`] : []),
  ];
  const ignored = ["--testPathIgnorePatterns", "/node_modules/", ...skips];
  const args = [...run, "--maxWorkers", String(workers), ...(only ? [only] : []), ...ignored];
  return { ...gate, report, open, run, args };
});

const began = performance.now();
let cpuSecondsSeen = 0;
const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    for (const child of running) killGroup(child);
    process.exit(130);
  });
}

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
  const stores = createStores();
  // Fetched while gates run that need no server.
  if (waiting.some((gate) => gate.stores || gate.ownStores)) void stores.fetch();
  const wait = async () => {
    for (const gate of waiting) await count(runTests(gate, stores));
  };
  try {
    await Promise.all([fill(), wait()]);
  } finally {
    await stores.stop();
  }

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

async function runTests(gate, stores) {
  if (gate.ownStores) {
    const trouble = await stores.fetch();
    return trouble ? withoutStores(gate, trouble) : runGate(gate);
  }
  if (!gate.stores) return runGate(gate);
  const trouble = await stores.start();
  if (trouble) return withoutStores(gate, trouble);
  console.log(`     against: ${namesIn(readReport(storesFile)).join(", ")}`);
  return runGate({ ...gate, env: { ...gate.env, POSTHASTE_TEST_STORES: storesFile } });
}

/** A host without the programs is no failure of the code. With CI=true it must not pass for a success. */
function withoutStores({ name }, { isLack, output }) {
  const ran = { name, seconds: 0, cpuSeconds: 0, passed: 0, durations: [] };
  if (!isLack) {
    console.log(`FAIL ${name}: there are no stores\n${output}`);
    return { ...ran, failed: 1 };
  }
  const reasons = new Set(output.match(/this host has no .*/g));
  console.log(`SKIPPED ${name}: ${[...reasons].join("; ")}`);
  return { ...ran, failed: isWithoutReader ? 1 : 0 };
}

/**
 * The servers that several gates share: started for the first, stopped after the last. `fetch` puts what they need into the
 * cache. Both return the reason for a failure, or undefined.
 */
function createStores() {
  const local = [quiet, "deploy/local/src/main.ts"];
  let fetching;
  const fetch = async () => {
    const { exit, output } = await run({
      args: [...local, "fetch"],
      secondsMax: storesSecondsMax,
    });
    return exit === "ok" ? undefined : { isLack: exit === `exit ${lackExitCode}`, output };
  };
  let starting;
  let child;
  const start = async () => {
    const started = performance.now();
    rmSync(storesFile, { force: true });
    mkdirSync(dirname(storesFile), { recursive: true });
    child = spawn(process.execPath, [...local, "stores", "--file", storesFile], {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    running.add(child);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream
        .setEncoding("utf8")
        .on("data", (text) => (output = (output + text).slice(-outputCharsMax)));
    let ended = false;
    child.on("close", () => (ended = true));
    while (!existsSync(storesFile)) {
      const isLate = performance.now() - started > storesSecondsMax * 1000;
      if (isLate) return { isLack: false, output: `not within the time\n${output}` };
      if (ended) return { isLack: child.exitCode === lackExitCode, output };
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    const stores = readReport(storesFile);
    const seconds = secondsSince(started);
    console.log(`     started ${namesIn(stores).length} stores in ${seconds} s`);
    return undefined;
  };
  const stop = async () => {
    if (!child) return;
    const ended = new Promise((resolve) => child.on("close", resolve));
    if (child.exitCode === null && child.signalCode === null) {
      child.kill("SIGTERM");
      const limit = setTimeout(() => killGroup(child), storesStopMsMax);
      await ended;
      clearTimeout(limit);
    }
    running.delete(child);
  };
  return { fetch: () => (fetching ??= fetch()), start: () => (starting ??= start()), stop };
}

function namesIn({ kafka, redis, mongodb }) {
  return [kafka, redis, mongodb].map(({ name }) => name);
}

async function runGate(gate) {
  const started = performance.now();
  if (gate.name === "end-to-end") rmSync(answersFolder, { recursive: true, force: true });
  if (gate.report) {
    mkdirSync(reports, { recursive: true });
    rmSync(gate.report, { force: true });
  }
  const first = await run(gate);
  const { output } = first;
  let { exit, cpuSeconds } = first;
  let count = gate.report ? countTests(gate, exit) : countStatic(exit);
  if (gate.report && count.failedFiles.length > 0) {
    const second = await runAgain(gate, count);
    if (second.count) {
      count = second.count;
      exit = "ok";
    }
    if (cpuSeconds !== undefined) cpuSeconds += second.cpuSeconds;
  }
  const seconds = secondsSince(started).padStart(6);

  const { passed, failed, skipped, durations } = count;
  const tests = gate.report ? `  ${passed} passed, ${failed} failed` : "";
  const cpu = cpuSeconds === undefined ? "" : `${cpuSeconds.toFixed(0).padStart(5)} of CPU`;
  const ending = exit === "ok" ? "" : `  ${exit}`;
  for (const line of output.match(/^against: .*$/gm) ?? []) console.log(`     ${line}`);
  const state = failed ? "FAIL" : "ok  ";
  console.log(`${state} ${gate.name.padEnd(13)} ${seconds} s ${cpu}${tests}${ending}`);
  if (failed > 0) {
    // A summary first: the output may be cut, and Jest lists passed files before failed ones.
    for (const test of count.failedTests ?? []) console.log(`FAILED ${test}`);
    for (const reason of count.reasons ?? []) console.log(reason);
    console.log(output.trimEnd());
  }
  for (const name of skipped) console.log(`SKIPPED ${name}`);
  const { name } = gate;
  return { name, seconds: Number(seconds), cpuSeconds, passed, failed, durations };
}

function secondsSince(started) {
  return ((performance.now() - started) / 1000).toFixed(1);
}

/** Runs the failed files of a gate once more, alone. Returns the corrected count when they pass. */
async function runAgain(gate, count) {
  const { passedElsewhere, forbidden, failedTests, failedFiles, reasons, skipped, durations } =
    count;
  // The first run's report, minutes old, would look as if the second had long ended.
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

/** Runs a gate in a process group of its own, so that nothing it started outlives it. */
function run({ args, env, report, open, processes, secondsMax, nice }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...seedEnv, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    running.add(child);
    if (nice && child.pid) giveWay(child.pid, nice);
    let output = "";
    let cpuSeconds;
    const keep = (text) => (output = (output + text).slice(-outputCharsMax));
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", keep);

    let killed;
    const kill = (reason) => {
      killed ??= `killed ${reason}`;
      killGroup(child);
    };
    const limit = setTimeout(() => kill(`after ${secondsMax} s`), secondsMax * 1000);
    let isForgiven = false;
    const watch = setInterval(async () => {
      const reportedAt = report && statSync(report, { throwIfNoEntry: false })?.mtimeMs;
      const isLingering = reportedAt && Date.now() - reportedAt > lingerMsMax;
      if (!isLingering) return;
      clearInterval(watch);
      isForgiven = processes === true;
      for (const handle of await openIn(child, open)) console.log(`LEFT OPEN ${handle}`);
      kill("since a test left something open: Jest was done and did not end");
    }, 1000);

    child.on("error", (error) => keep(error.stack));
    child.on("exit", () => {
      cpuSeconds = cpuSecondsOfEnded();
      killGroup(child);
    });
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      clearInterval(watch);
      running.delete(child);
      const exit = killed ?? (code === 0 ? "ok" : `exit ${code ?? signal}`);
      resolve({ exit: isForgiven ? "ok" : exit, output, cpuSeconds });
    });
  });
}

/** Makes a process that leads a session nicer, with all that it will start, as far as niceness goes. */
function giveWay(pid, nice) {
  setPriority(pid, Math.min(getPriority() + nice, constants.priority.PRIORITY_LOW));
  try {
    // Where Linux groups processes by session, the niceness of a process counts within its session only.
    writeFileSync(`/proc/${pid}/autogroup`, String(nice));
  } catch {
    // This system does not group them.
  }
}

/** Returns the CPU seconds of processes that ended since the last call, with their children. Undefined outside Linux. */
function cpuSecondsOfEnded() {
  const all = cpuSecondsOfChildren();
  if (all === undefined) return undefined;
  const seconds = all - cpuSecondsSeen;
  cpuSecondsSeen = all;
  return seconds;
}

function cpuSecondsOfChildren() {
  try {
    // The name in the second field may contain spaces. The state follows its bracket.
    const [, fields] = readFileSync("/proc/self/stat", "utf8").split(") ");
    const [user, system] = fields.split(" ").slice(13, 15);
    return (Number(user) + Number(system)) / clockTicksPerSecond;
  } catch {
    return undefined;
  }
}

/** Returns what keeps the event loop of `child` alive, in words. */
async function openIn(child, file) {
  rmSync(file, { force: true });
  child.kill(tellSignal);
  const until = Date.now() + tellMsMax;
  const told = () => readReport(file)?.libuv;
  while (!told() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 200));
  const handles = (told() ?? []).filter((handle) => handle.is_active && handle.is_referenced);
  if (handles.length === 0) return ["something that it does not name"];
  return handles.map(({ type, pid, localEndpoint, remoteEndpoint, firesInMsFromNow }) => {
    const ends = [localEndpoint, remoteEndpoint].map((end) => end && `${end.host}:${end.port}`);
    const due = firesInMsFromNow === undefined ? "" : `due in ${firesInMsFromNow} ms`;
    return [type, pid, ends.filter(Boolean).join(" to "), due].filter(Boolean).join(" ");
  });
}

function killGroup(child) {
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch {
    child.kill("SIGKILL"); // No such group: all have ended, or this is Windows, which has none.
  }
}

function countStatic(exit) {
  return exit === "ok"
    ? { passed: 1, failed: 0, skipped: [] }
    : { passed: 0, failed: 1, skipped: [] };
}

function countTests({ name: gate, report, mayBeEmpty }, exit) {
  const found = readReport(report);
  if (!found) return { passed: 0, failed: 1, skipped: [], failedFiles: [], failedTests: [] };

  const inFile = (name) => relative(root, name);
  const of = (isWanted) =>
    found.testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.filter(isWanted).map(({ fullName }) => `${inFile(name)}: ${fullName}`),
    );
  const skipped = of(({ status }) => status !== "passed" && status !== "failed");
  const brokenFiles = found.testResults.filter(({ status }) => status === "failed");
  const failedTests = of(({ status }) => status === "failed");
  for (const { name, assertionResults } of brokenFiles)
    if (!assertionResults.some(({ status }) => status === "failed"))
      failedTests.push(`${inFile(name)} did not run`);
  const counted = found.numFailedTests + found.numRuntimeErrorTestSuites;
  const broken =
    counted > 0 ? counted : Number(exit !== "ok" || (found.numPassedTests === 0 && !mayBeEmpty));
  // With CI=true a skipped test is a guarantee that silently went away, unless its name states the reason.
  const silent = skipped.filter(
    (name) => !/\((deviates: |its clock would have to move )/.test(name),
  );
  const forbidden = isWithoutReader ? silent.length : 0;
  const passedAmongBroken = brokenFiles
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === "passed").length;
  const durations = found.testResults.map(({ name, startTime, endTime }) => ({
    gate,
    file: inFile(name),
    seconds: (endTime - startTime) / 1000,
  }));
  return {
    durations,
    passed: found.numPassedTests,
    passedElsewhere: found.numPassedTests - passedAmongBroken,
    forbidden,
    failed: broken + forbidden,
    skipped,
    failedFiles: brokenFiles.map(({ name }) => name),
    reasons: brokenFiles.map(({ message }) => message.slice(0, reasonCharsMax)),
    failedTests,
  };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
