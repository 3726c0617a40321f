// The servers of gates: a Kafka, a Redis and a MongoDB for each, since a server that two gates load is late for both.
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isWithoutReader, readReport } from "./count.js";
import { quiet, root } from "./list.js";
import { killGroup, run, start } from "./run.js";

const local = [quiet, "deploy/local/src/main.ts"];
/** Includes fetching the servers that are not in the cache. */
const secondsMax = 1_800;
const stopMsMax = 60_000;
/** The exit code of `npm run stack -- stores` and `-- fetch` when a program that they need is not installed. */
const lackExitCode = 3;

/** Puts what the servers need into the cache. Resolves with the reason where that fails, or with undefined. */
export async function fetchServers() {
  const { exit, output } = await run({ args: [...local, "fetch"], secondsMax });
  return exit === "ok" ? undefined : { isLack: exit === `exit ${lackExitCode}`, output };
}

/**
 * Starts servers for a gate. Resolves with their variables, or with the reason why they did not start. `stop`
 * resolves with the CPU seconds that they took.
 */
export async function startServers({ name }) {
  const started = performance.now();
  const file = join(root, `.cache/stores/${name}.json`);
  rmSync(file, { force: true });
  mkdirSync(join(root, ".cache/stores"), { recursive: true });
  const { child, output, ended } = start({ args: [...local, "stores", "--file", file] });
  const stop = async () => {
    child.kill("SIGTERM");
    const limit = setTimeout(() => killGroup(child), stopMsMax);
    const { cpuSeconds } = await ended;
    clearTimeout(limit);
    return cpuSeconds;
  };
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  while (!existsSync(file)) {
    const isLate = performance.now() - started > secondsMax * 1000;
    if (isLate || hasEnded()) {
      await stop();
      const isLack = child.exitCode === lackExitCode;
      return {
        trouble: { isLack, output: isLate ? `not within the time\n${output()}` : output() },
      };
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const { kafka, redis, mongodb } = readReport(file);
  const names = [kafka, redis, mongodb].map((server) => server.name).join(", ");
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`     ${name} against: ${names}, started in ${seconds} s`);
  return { env: { POSTHASTE_TEST_STORES: file }, stop };
}

/** Counts a gate without servers as skipped if the host lacks the programs, and as failed with CI=true or for any other reason. */
export function countWithoutServers({ name }, { isLack, output }) {
  const ran = { name, seconds: 0, cpuSeconds: 0, passed: 0, durations: [] };
  if (!isLack) {
    console.log(`FAIL ${name}: there are no stores\n${output}`);
    return { ...ran, failed: 1 };
  }
  const reasons = new Set(output.match(/this host has no .*/g));
  console.log(`SKIPPED ${name}: ${[...reasons].join("; ")}`);
  return { ...ran, failed: isWithoutReader ? 1 : 0 };
}
