// Counts the tests of a gate by what Jest has reported.
import { readFileSync } from "node:fs";
import { relative } from "node:path";
import { root } from "./list.js";

const reasonCharsMax = 2_000;
export const isWithoutReader = process.env.CI === "true";

export function countStatic(exit) {
  return exit === "ok"
    ? { passed: 1, failed: 0, skipped: [] }
    : { passed: 0, failed: 1, skipped: [] };
}

export function countTests({ name: gate, report, mayBeEmpty }, exit) {
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

export function readReport(file) {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined;
  }
}
