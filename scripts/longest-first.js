// Runs long suites first, so that a gate does not end with one of them beside an idle core. Jest knows the length of
// a suite only after it has run here, and until then uses the file size.
import Sequencer from "@jest/test-sequencer";

/** The suites that take more than half a minute in at least one gate. */
const longest = [
  "simulation.sim",
  "planted-bugs-in-workloads.sim",
  "planted-bugs.sim",
  "embedded/src/contract",
  "services-killed.cluster",
  "outages.cluster",
  "cluster.cluster",
  "brokers.cluster",
  "bounds.cluster",
  "elections.cluster",
  "observability.alone.e2e",
  "schedules-killed.alone.e2e",
  "shutdown.alone.e2e",
  "crash.alone.e2e",
  "messages.e2e",
  "console.either.e2e",
  "console-messages.either.e2e",
  "flow-control.e2e",
  "console-runs.either.e2e",
  "console-questions.either.e2e",
];

export default class LongestFirst extends Sequencer {
  async sort(tests) {
    const sorted = await super.sort(tests);
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

function rank({ path }) {
  const place = longest.findIndex((name) => path.endsWith(`/${name}.test.ts`));
  return place === -1 ? longest.length : place;
}
