/** The long form: `node tests/faults/main.ts --rounds 20 --seed 7 --scenario kills`. */
import { parseArgs } from "node:util";
import { seededChance } from "./chance.ts";
import { startRun, untilIdle } from "./run.ts";
import { allScenarios } from "./scenarios/all.ts";
import { startCluster } from "./world/cluster.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "20" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    scenario: { type: "string" },
  },
});
const { scenario: asked } = values;
const [rounds, seed] = [Number(values.rounds), Number(values.seed)];
const drawn = allScenarios.filter(({ name }) => asked === undefined || name === asked);
if (drawn.length === 0)
  throw new Error(`--scenario is one of ${allScenarios.map(({ name }) => name).join(", ")}`);

const say = (what: object): void => void process.stdout.write(`${JSON.stringify(what)}\n`);
say({ rounds, seed, scenario: asked ?? "all" });
const chance = seededChance(seed);
const cluster = await startCluster();
const run = await startRun(cluster);
try {
  let broken = 0;
  for (let round = 1; round <= rounds; round++) {
    const scenario = drawn[Math.floor(chance() * drawn.length)];
    if (!scenario) continue;
    const verdict = await run.play(scenario, chance);
    say({ round, scenario: scenario.name, ...verdict });
    broken += verdict.violations.length;
  }
  await run.untilFired();
  await untilIdle(cluster);
  await run.untilLogged();
  const verdict = run.verdict();
  say(verdict);
  if (broken + verdict.violations.length > 0) throw new Error("rules were broken");
} catch (error) {
  say({ error: String(error), journals: run.save() });
  process.exitCode = 1;
} finally {
  await run.stop();
}
