/**
 * The simulation from the command line: `--seed N` (default 1), `--count N` seeds from there on, `--trace` to print
 * all events, `--bug "name"` to plant a bug, `--runs` for histories of workflow runs, `--clocks` for histories in
 * which clocks are set, `--documents` for those of the six services over the adapter of MongoDB. Exits with 1 when a
 * seed violates a check. `--remember` finds the seed that shows each planted bug, and writes the file of seeds.
 */
import { parseArgs } from "node:util";
import { histories, historiesOf, reportOf } from "./histories.ts";
import { mutations } from "./mutations.ts";
import { rememberSeeds } from "./remembered-seeds.ts";

const { values } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "1" },
    trace: { type: "boolean", default: false },
    bug: { type: "string" },
    runs: { type: "boolean", default: false },
    clocks: { type: "boolean", default: false },
    documents: { type: "boolean", default: false },
    remember: { type: "boolean", default: false },
  },
});
if (values.remember) {
  await rememberSeeds();
  process.exit();
}
const mutation = mutations.find(({ name }) => name === values.bug);
if (values.bug !== undefined && !mutation) {
  throw new Error(`no such bug; there are: ${mutations.map(({ name }) => name).join("; ")}`);
}
const ofOptions = values.runs ? histories.runs : values.clocks ? histories.clocks : undefined;
const history = ofOptions ?? historiesOf(mutation ?? {});

const total = new Map<string, number>();
let failures = 0;
let running = 0;
process.on("unhandledRejection", (error) => {
  console.error(`seed ${running}: nobody handles this rejection, which ends a process:`, error);
  process.exit(1);
});
for (let seed = Number(values.seed); seed < Number(values.seed) + Number(values.count); seed++) {
  running = seed;
  const begunAt = performance.now();
  const simulated = await history({
    seed,
    ...(mutation && { mutation }),
    ...(values.documents && { documents: true }),
    ...(values.trace && { onTrace: (line) => console.log(line) }),
  });
  for (const [what, count] of simulated.counts) total.set(what, (total.get(what) ?? 0) + count);
  total.set(
    `seeds.${simulated.shape}.${simulated.store}`,
    (total.get(`seeds.${simulated.shape}.${simulated.store}`) ?? 0) + 1,
  );
  const ms = Math.round(performance.now() - begunAt);
  if (simulated.violations.length > 0) {
    failures += 1;
    console.log(reportOf(simulated, Number(values.count) === 1 ? 400 : 0));
  } else if (Number(values.count) === 1) {
    console.log(
      `seed ${seed} holds: ${simulated.shape}, ${simulated.store}, ${simulated.steps} steps, ${ms} ms, trace ${simulated.digest}`,
    );
  }
}
console.log(Object.fromEntries([...total].toSorted(([a], [b]) => (a < b ? -1 : 1))));
console.log(`${failures} of ${values.count} seeds violate a check`);
process.exitCode = failures > 0 ? 1 : 0;
