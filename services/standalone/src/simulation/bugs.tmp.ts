import { mutations } from "/work/main/services/standalone/src/simulation/mutations.ts";
import { simulate } from "/work/main/services/standalone/src/simulation/simulate.ts";
process.on("unhandledRejection", (e) => console.log("UNHANDLED", e));
const max = Number(process.argv[2] ?? 60);
for (const mutation of mutations) {
  let caught = "NOT CAUGHT"; const t = performance.now(); const all: string[] = [];
  for (let seed = 1; seed <= max; seed++) {
    const r = await simulate({ seed, mutation });
    if (r.violations.length > 0) { all.push(`${seed}:${r.violations[0].check}`); if (all.length === 1) caught = `seed ${seed} ${r.violations[0].check}: ${r.violations[0].text.slice(0, 110)}`; if (all.length >= 5) break; }
  }
  console.log(`${mutation.name.padEnd(60)} ${Math.round(performance.now() - t)} ms ${caught} | ${all.join(" ")}`);
}
