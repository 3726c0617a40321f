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
  for (let round = 1; round <= rounds; round++) {
    const scenario = drawn[Math.floor(chance() * drawn.length)];
    if (!scenario) continue;
    run.begin();
    await run.play(scenario, chance);
    await run.rest();
    tell({ round, scenario: scenario.name });
  }
  await run.end();
  await untilIdle(cluster);
  tell({});
} catch (error) {
  say({ error: String(error), journals: run.save() });
  process.exitCode = 1;
} finally {
  await run.stop();
}

/** Prints the verdict on everything so far. Throws when a rule was broken. */
function tell(when: object): void {
  const verdict = run.verdict();
  say({ ...when, ...verdict });
  if (verdict.violations.length > 0) throw new Error("rules were broken");
}
