/** The longer form: `node tests/crash/main.ts --kills 200 --seed 7`. */
import { parseArgs } from "node:util";
import { runCrashes } from "./run.ts";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "200" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    alive: { type: "string", default: "200-3000" },
  },
});
const [aliveMsMin = 200, aliveMsMax = 3_000] = values.alive.split("-").map(Number);
const run = { kills: Number(values.kills), seed: Number(values.seed), aliveMsMin, aliveMsMax };
process.stdout.write(`${JSON.stringify(run)}\n`);
const verdict = await runCrashes(run);
process.stdout.write(`${JSON.stringify(verdict, undefined, 2)}\n`);
process.exitCode = verdict.violations.length === 0 ? 0 : 1;
