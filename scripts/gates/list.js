// The gates of `npm test`, in the order in which they begin.
import { basename, dirname, join } from "node:path";

export const root = dirname(dirname(import.meta.dirname));
export const reports = join(root, ".cache/reports");
export const fullFlag = "--full";
const isFull = process.argv.includes(fullFlag);
const dayMs = 24 * 3_600_000;
export const seed = process.env.POSTHASTE_TEST_SEED ?? String(Math.floor(Date.now() / dayMs));
const seedEnv = { POSTHASTE_TEST_SEED: seed, POSTHASTE_TEST_FULL: String(isFull) };
const tool = (path) => `node_modules/${path}`;

/** `perFile`: the gate accepts single files, and skips those that it does not check. */
export const staticGates = [
  { name: "lint", args: [tool("oxlint/bin/oxlint"), "--quiet"], perFile: true },
  // Several checkers finish sooner on an idle host, but check shared files twice.
  { name: "types", args: [tool("typescript/bin/tsc"), "--noEmit", "--checkers", "1"] },
  { name: "types-of-apps", args: [tool("typescript/bin/tsc"), "--noEmit", "-p", "apps/console"] },
  { name: "format", args: [tool("oxfmt/bin/oxfmt"), "--check"], perFile: true },
  {
    name: "dependencies",
    args: [
      tool("dependency-cruiser/bin/dependency-cruiser.mjs"),
      ...["apps", "libs", "services", "tests", "examples", "bench", "deploy", "scripts"],
    ],
  },
  { name: "dead-code", args: [tool("knip/bin/knip.js"), "--no-config-hints"] },
  { name: "documents", args: ["scripts/generate.js", "--check"] },
].map((gate) => ({ ...gate, fills: true, secondsMax: 1_800 }));

export const quiet = "--disable-warning=ExperimentalWarning";
/** The signal on which Node writes a report of everything that its event loop waits for. */
export const tellSignal = "SIGUSR2";
const tellsWhatIsOpen = (file) => [
  "--report-on-signal",
  `--report-signal=${tellSignal}`,
  `--report-directory=${dirname(file)}`,
  `--report-filename=${basename(file)}`,
  "--report-exclude-env",
];
const ofKind = (kind) => `\\.${kind}\\.test\\.ts$`;
/** Holds the answers seen by the suites of one gate, for the next gate to read. */
export const answersFolder = join(reports, "answers");
const answersEnv = { POSTHASTE_TEST_ANSWERS: answersFolder };
/** The added niceness of gates that only compute, so that they delay no test of a gate that waits. */
export const niceness = 10;
/**
 * Gates that mostly wait run side by side while their workers are no more than these. With one MongoDB for all, which would stand
 * still for one gate while another makes collections, each runs alone.
 */
export const workersMax = process.env.POSTHASTE_MONGODB_URI ? 1 : 6;
/**
 * `fills`: needs a processor and nothing else, so it runs beside the gates that mostly wait, and takes what they leave.
 * `workers`: more than cores, where a gate mostly waits.
 * `after`: the gate whose results it reads.
 * `stores`: runs over the servers of `npm run stack -- stores`.
 * `ownStores`: starts such servers itself.
 * `processes`: runs over real processes, which may end slowly on a busy host.
 */
export const testGates = [
  {
    name: "unit",
    skips: [ofKind("(sim|e2e|stack|cluster|deploy|answers)")],
    secondsMax: 1_800,
    fills: true,
  },
  // Builds Helm and the checkers when they are not in the cache.
  {
    name: "deploy",
    only: ofKind("deploy"),
    // Suites that take minutes and test no promise of the service.
    skips: isFull ? [] : [ofKind("full\\.deploy")],
    secondsMax: 2_400,
    fills: true,
    processes: true,
  },
  // Begins last of the gates that only compute, since it uses every processor.
  { name: "simulation", only: ofKind("sim"), secondsMax: 1_800, fills: true },
  {
    name: "end-to-end",
    only: ofKind("e2e"),
    secondsMax: 1_200,
    processes: true,
    workers: 4,
    env: answersEnv,
    setup: ["start-standalones.ts", "stop-standalones.ts"],
  },
  {
    name: "answers",
    only: ofKind("answers"),
    secondsMax: 120,
    workers: 1,
    after: "end-to-end",
    env: answersEnv,
  },
  {
    name: "stores",
    only: ofKind("stack"),
    secondsMax: 1_200,
    processes: true,
    stores: true,
    workers: 2,
  },
  {
    name: "apart",
    only: ofKind("e2e"),
    // Suites independent of the shape run in one shape only, and those of the standalone in no other.
    skips: [ofKind(`${isFull ? "alone" : "(alone|either)"}\\.e2e`)],
    secondsMax: 1_800,
    processes: true,
    stores: true,
    workers: 3,
    env: { POSTHASTE_TEST_SHAPE: "distributed" },
    setup: ["start-services.ts", "stop-services.ts"],
  },
  {
    name: "cluster",
    only: ofKind("cluster"),
    skips: isFull ? [] : [ofKind("full\\.cluster")],
    secondsMax: 2_700,
    processes: true,
    ownStores: true,
    workers: 3,
  },
].map(({ only, skips = [], workers = 2, env = {}, setup: [start, stop] = [], ...gate }) => {
  const report = join(reports, `${gate.name}.json`);
  const open = join(reports, `${gate.name}.open.json`);
  const run = [
    quiet,
    ...tellsWhatIsOpen(open),
    tool("jest/bin/jest.js"),
    "--ci",
    "--json",
    "--outputFile",
    report,
    ...(start ? ["--globalSetup", `./tests/e2e/${start}`] : []),
    ...(stop ? ["--globalTeardown", `./tests/e2e/${stop}`] : []),
  ];
  const ignored = ["--testPathIgnorePatterns", "/node_modules/", ...skips];
  const args = [...run, "--maxWorkers", String(workers), ...(only ? [only] : []), ...ignored];
  return { ...gate, workers, env: { ...seedEnv, ...env }, report, open, run, args };
});
