/**
 * `npm run endure`: the six services over a set of three, three brokers and a Redis with a replica, while each member
 * and each process is killed, stopped and cut off. Prints each fault and a report as JSON lines. The exit code is 1
 * when a rule was broken, or when there were fewer messages or runs than asked for.
 *
 *   npm run endure   the short form, two to three minutes
 *   npm run endure -- --messages 100000 --runs 500 --ways 3 --per-second 170 --runs-per-second 0.6   the full size
 */
import { parseArgs } from "node:util";
import { seededChance } from "../chance.ts";
import { type History } from "../history/journal.ts";
import { startRun, untilIdle } from "../run.ts";
import { startClusterOfThree } from "../world/cluster-of-three.ts";
import { waysMax } from "./plan.ts";
import { endurance, lackOf, messagesOf, shortSize, type Size } from "./scenario.ts";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: String(shortSize.messages) },
    runs: { type: "string", default: String(shortSize.runs) },
    ways: { type: "string", default: String(shortSize.waysEach) },
    minutes: { type: "string", default: String(shortSize.minutesMax) },
    "per-second": { type: "string", default: String(shortSize.perSecond) },
    "runs-per-second": { type: "string", default: String(shortSize.runsPerSecond) },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const runsPerSecondMax = 10;
const size: Size = {
  messages: whole("messages", 1, 1_000_000),
  runs: whole("runs", 1, 10_000),
  waysEach: whole("ways", 1, waysMax),
  perSecond: whole("per-second", 1, 1_000),
  runsPerSecond: rate("runs-per-second"),
  minutesMax: whole("minutes", 1, 1_000),
};
const seed = whole("seed", 0, 2 ** 32 - 1);

const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`);
// The workflow SDK prints each failed request.
console.error = console.warn = () => undefined;
say({ seed, ...size });
const begunAt = performance.now();
const cluster = await startClusterOfThree();
const run = await startRun(cluster);
const { journal } = run;
try {
  run.begin(size.runsPerSecond);
  await run.play(endurance({ size, journal, say }), seededChance(seed));
  await run.end();
  await untilIdle(cluster);
  const verdict = run.verdict();
  say({ against: cluster.against, ...verdict, ...figures(journal) });
  if (verdict.violations.length > 0) throw new Error("rules were broken");
  const lacked = lackOf(journal, size);
  if (lacked.length > 0)
    throw new Error(`the time was over before there were ${lacked.join(" and ")}`);
} catch (error) {
  say({ error: String(error), journals: run.save() });
  process.exitCode = 1;
} finally {
  await run.stop();
}

function figures({ faults, schedules }: History) {
  return {
    messages: messagesOf(journal),
    schedules: schedules.length,
    faults: faults.length,
    seconds: Math.round((performance.now() - begunAt) / 1_000),
  };
}

function whole(name: keyof typeof values, min: number, max: number): number {
  const value = Number(values[name]);
  if (Number.isInteger(value) && value >= min && value <= max) return value;
  throw new Error(`--${name} is a whole number from ${min} to ${max}`);
}

function rate(name: keyof typeof values): number {
  const value = Number(values[name]);
  if (value > 0 && value <= runsPerSecondMax) return value;
  throw new Error(`--${name} is a number above 0, and at most ${runsPerSecondMax}`);
}
