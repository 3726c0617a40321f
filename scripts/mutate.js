// Plants wrong lines of tests/mutations/, one at a time, into a copy of this tree, and runs the test that must fail.
//
//   npm run mutate                            the ten of the day; all lines have their turn
//   npm run mutate -- --turn 7 --count 20     the seventh twenty
//   npm run mutate -- sender/src/dial         the lines whose file, test, name or section contains this text
//
// A line that no test notices is a survivor, and the exit code is 1. The tests are first run without any wrong line: a test
// that fails by itself would notice everything.
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { copyTree, replaceFile } from "./copy-tree.js";
import { readWrongLines, wrongLines } from "./wrong-lines.js";

const root = dirname(import.meta.dirname);
const copy = join(root, ".cache/mutate/tree");
const report = join(root, ".cache/mutate/report.json");
const testsMsMax = 20 * 60_000;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { turn: { type: "string" }, count: { type: "string" } },
});

const problems = readWrongLines();
for (const problem of problems) console.log(problem);
process.exitCode = problems.length > 0 ? 1 : main();

function main() {
  const turn = Number(values.turn ?? Math.floor(Date.now() / 86_400_000));
  const chosen = positionals.length > 0 ? matching(positionals) : inTurn(turn);
  if (chosen.length === 0) return fail("no wrong line matches");
  console.log(`${chosen.length} wrong lines${positionals.length > 0 ? "" : `, --turn ${turn}`}`);
  copyTree(copy);
  const unsound = unsoundOf(chosen);
  for (const line of unsound) console.log(`does not pass without it: ${inShort(line)}`);
  const survivors = chosen.filter((line) => !unsound.includes(line) && !isCaught(line));
  fs.rmSync(copy, { recursive: true });
  console.log(`${chosen.length - unsound.length - survivors.length} caught`);
  for (const line of survivors)
    console.log(`survived: ${inShort(line)}\n  - ${line.text}\n  + ${line.wrong}`);
  return unsound.length + survivors.length > 0 ? 1 : 0;
}

function matching(texts) {
  const isMeant = (line) =>
    texts.some((text) => Object.values(line).some((value) => value.includes(text)));
  return wrongLines().filter(isMeant);
}

function inTurn(turn) {
  const lines = wrongLines();
  const count = Math.min(Number(values.count ?? 10), lines.length);
  return Array.from({ length: count }, (_, i) => lines[(turn * count + i) % lines.length]);
}

/** Reports whether the test fails. A line that keeps the file from loading proves nothing. */
function isCaught(line) {
  const path = join(copy, line.file);
  const text = fs.readFileSync(path, "utf8");
  replaceFile(
    path,
    text.replace(line.text, () => line.wrong),
  );
  const outcome = outcomeOf(line);
  replaceFile(path, text);
  console.log(`${outcome === "failed" ? "caught" : outcome}: ${inShort(line)}`);
  return outcome === "failed";
}

function outcomeOf({ name, test }) {
  const told = tested([test], [name]);
  if (!told) return "not ended";
  if (told.numRuntimeErrorTestSuites > 0) return "not loaded";
  return told.numFailedTests > 0 ? "failed" : "passed";
}

/** Returns the lines whose test does not pass without them, so that its failure would prove nothing. */
function unsoundOf(lines) {
  const told = tested(
    [...new Set(lines.map(({ test }) => test))],
    lines.map(({ name }) => name),
  );
  const results = told?.testResults.flatMap(({ assertionResults }) => assertionResults) ?? [];
  return lines.filter(({ name }) => {
    const named = results.filter(({ fullName }) => fullName.includes(name));
    const run = named.filter(({ status }) => status !== "pending");
    return run.length === 0 || run.some(({ status }) => status !== "passed");
  });
}

function tested(tests, names) {
  fs.rmSync(report, { force: true });
  spawnSync(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      join(root, "node_modules/jest/bin/jest.js"),
      ...["--testNamePattern", names.map((name) => RegExp.escape(name)).join("|")],
      ...["--json", "--outputFile", report, "--cacheDirectory", join(root, ".cache/mutate/jest")],
      ...["--runTestsByPath", ...tests],
    ],
    { cwd: copy, stdio: "ignore", timeout: testsMsMax, killSignal: "SIGKILL" },
  );
  return fs.existsSync(report) ? JSON.parse(fs.readFileSync(report, "utf8")) : undefined;
}

function inShort({ file, name }) {
  return `${file}: "${name}"`;
}

function fail(text) {
  console.log(text);
  return 1;
}
