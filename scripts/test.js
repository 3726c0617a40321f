// `npm test`: every gate of the project, each with a time limit; the last line says `N passed, N failed`.
//
//   npm test                     all gates
//   npm test -- types unit       some of them, by name
//   npm test -- static           all that run no test
//
// A static gate counts as one. A gate of tests counts its tests, and each suite that did not run as a failed one.
// A gate that was killed, left no report or failed without a failed test counts as one failed, too: silence is no success.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";

const root = dirname(import.meta.dirname);
const reports = join(root, ".cache/reports");
const outputCharsMax = 200_000;
const lingerMsMax = 10_000;
const tool = (path) => `node_modules/${path}`;

const staticGates = [
  { name: "lint", args: [tool("eslint/bin/eslint.js"), "."] },
  { name: "types", args: [tool("typescript/bin/tsc"), "--noEmit"] },
  { name: "format", args: [tool("prettier/bin/prettier.cjs"), "--check", "."] },
  {
    name: "dependencies",
    args: [tool("dependency-cruiser/bin/dependency-cruiser.mjs"), "libs", "services"],
  },
  { name: "dead-code", args: [tool("knip/bin/knip.js"), "--no-config-hints"] },
  { name: "documents", args: ["scripts/generate.js", "--check"] },
].map((gate) => ({ ...gate, secondsMax: 180 }));

const jest = ["--experimental-vm-modules", "--disable-warning=ExperimentalWarning"];
const testGates = [
  { name: "unit", skips: "\\.(sim|e2e)\\.test\\.ts$", secondsMax: 300 },
  { name: "simulation", only: "\\.sim\\.test\\.ts$", secondsMax: 600 },
  { name: "end-to-end", only: "\\.e2e\\.test\\.ts$", secondsMax: 600 },
].map(({ only, skips, ...gate }) => {
  const report = join(reports, `${gate.name}.json`);
  const selection = only ? [only] : ["--testPathIgnorePatterns", "/node_modules/", skips];
  const output = ["--ci", "--json", "--outputFile", report];
  return { ...gate, report, args: [...jest, tool("jest/bin/jest.js"), ...output, ...selection] };
});

const running = new Set();
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    for (const child of running) killGroup(child);
    process.exit(130);
  });
}

const { passed, failed } = await runGates(process.argv.slice(2)).catch((error) => {
  console.log(error);
  return { passed: 0, failed: 1 };
});
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function runGates(asked) {
  const known = new Set(["static", ...[...staticGates, ...testGates].map((gate) => gate.name)]);
  const unknown = asked.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    console.log(`no gate is called ${unknown.join(", ")}; there are ${[...known].join(", ")}`);
    return { passed: 0, failed: unknown.length };
  }
  const isAsked = ({ name, report }) =>
    asked.length === 0 || asked.includes(name) || (!report && asked.includes("static"));

  // Static gates use one core each, a run of Jest uses two.
  const counts = [];
  const waiting = staticGates.filter(isAsked);
  const work = async () => {
    for (let gate = waiting.shift(); gate; gate = waiting.shift()) counts.push(await runGate(gate));
  };
  await Promise.all([work(), work()]);
  for (const gate of testGates.filter(isAsked)) counts.push(await runGate(gate));

  const sum = (key) => counts.reduce((total, count) => total + count[key], 0);
  return { passed: sum("passed"), failed: sum("failed") };
}

async function runGate(gate) {
  const started = performance.now();
  if (gate.report) {
    mkdirSync(reports, { recursive: true });
    rmSync(gate.report, { force: true });
  }
  const { exit, output } = await run(gate);
  const seconds = ((performance.now() - started) / 1000).toFixed(1).padStart(6);

  const { passed, failed, skipped } = gate.report ? countTests(gate, exit) : countStatic(exit);
  const tests = gate.report ? `  ${passed} passed, ${failed} failed` : "";
  const ending = exit === "ok" ? "" : `  ${exit}`;
  console.log(`${failed ? "FAIL" : "ok  "} ${gate.name.padEnd(12)} ${seconds} s${tests}${ending}`);
  if (failed > 0) console.log(output.trimEnd());
  for (const name of skipped) console.log(`SKIPPED ${name}`);
  return { passed, failed };
}

/** Runs a gate in a process group of its own, so that nothing it started outlives it. */
function run({ args, report, secondsMax }) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      stdio: ["ignore", "pipe", "pipe"],
      detached: process.platform !== "win32",
    });
    running.add(child);
    let output = "";
    const keep = (text) => (output = (output + text).slice(-outputCharsMax));
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", keep);

    let killed;
    const kill = (reason) => {
      killed ??= `killed ${reason}`;
      killGroup(child);
    };
    const limit = setTimeout(() => kill(`after ${secondsMax} s`), secondsMax * 1000);
    const watch = setInterval(() => {
      const reportedAt = report && statSync(report, { throwIfNoEntry: false })?.mtimeMs;
      const isLingering = reportedAt && Date.now() - reportedAt > lingerMsMax;
      if (isLingering) kill("since a test left something open: Jest was done and did not end");
    }, 1000);

    child.on("error", (error) => keep(error.stack));
    child.on("exit", () => killGroup(child));
    child.on("close", (code, signal) => {
      clearTimeout(limit);
      clearInterval(watch);
      running.delete(child);
      const exit = killed ?? (code === 0 ? "ok" : `exit ${code ?? signal}`);
      resolve({ exit, output });
    });
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

function countTests({ report }, exit) {
  const found = readReport(report);
  if (!found) return { passed: 0, failed: 1, skipped: [] };

  const skipped = found.testResults.flatMap(({ name, assertionResults }) =>
    assertionResults
      .filter(({ status }) => status !== "passed" && status !== "failed")
      .map(({ fullName }) => `${relative(root, name)}: ${fullName}`),
  );
  const counted = found.numFailedTests + found.numRuntimeErrorTestSuites;
  const broken = counted > 0 ? counted : Number(exit !== "ok" || found.numPassedTests === 0);
  // Where nobody watches, a skipped test is a guarantee that silently went away.
  const forbidden = process.env.CI === "true" ? skipped.length : 0;
  return { passed: found.numPassedTests, failed: broken + forbidden, skipped };
}

function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
