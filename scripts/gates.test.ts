/** Runs the gates over small trees, in which suites fail in each way that a suite can. */
import { expect, it } from "@jest/globals";
import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const ofJest = 'import { afterAll, expect, it } from "@jest/globals";\n';
const passing = `${ofJest}it("passes", () => undefined);\n`;
const failing = `${ofJest}it("fails", () => expect(1).toBe(2));\n`;
/** Fails where its folder has no trace of an earlier run. */
const late = `${ofJest}import { existsSync, writeFileSync } from "node:fs";
const trace = new URL("trace", import.meta.url);
it("is late once", () => {
  const isSecond = existsSync(trace);
  writeFileSync(trace, "");
  expect(isSecond).toBe(true);
});
`;
/** Writes what it has found in the file of its gate, and waits for the other gate to do so. */
const meeting = (own: string, other: string, found: string): string => `${ofJest}
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority } from "node:os";
it("runs at the same time as the other gate", async () => {
  writeFileSync("${own}", ${found});
  while (!existsSync("${other}")) await new Promise((resolve) => setTimeout(resolve, 20));
});
`;
/** Stands in for the programs that start servers, and logs beside the file of their addresses when they begin and end. */
const ofServers = {
  "deploy/local/src/main.ts": `import { appendFileSync, writeFileSync } from "node:fs";
const [, , command, , file] = process.argv;
if (command === "stores") {
  const log = (text: string) => appendFileSync(file + ".log", text);
  process.once("SIGTERM", () => (log(", ended"), process.exit(0)));
  setInterval(() => undefined, 60_000);
  log("began");
  writeFileSync(file, '{ "kafka": {}, "redis": {}, "mongodb": {} }');
}
`,
  ...Object.fromEntries(
    ["start-services", "stop-services", "start-standalones", "stop-standalones"].map((name) => [
      `tests/e2e/${name}.ts`,
      "export default () => undefined;\n",
    ]),
  ),
};

type Ran = {
  readonly code: number;
  readonly output: string;
  readonly gates: readonly Record<string, unknown>[];
  readonly tree: string;
};
const folder = mkdtempSync(join(tmpdir(), "posthaste-gates-"));

it.concurrent("counts suites that pass, and names the longest", async () => {
  const { code, output } = await run("unit", { "src/one.test.ts": passing });

  expect(output).toMatch(/^ok {3}unit .* 1 passed, 0 failed$/m);
  expect(output).toMatch(/ s {2}unit {8}src\/one\.test\.ts\n1 passed, 0 failed\n$/);
  expect(code).toBe(0);
});

it.concurrent("passes a test as unsteady that passes when it runs again", async () => {
  const { code, output } = await run("unit", {
    "src/late.test.ts": late,
    "src/one.test.ts": passing,
  });

  expect(output).toContain("UNSTEADY src/late.test.ts: is late once\n");
  expect(output).toMatch(/\n2 passed, 0 failed\n$/);
  expect(code).toBe(0);
});

it.concurrent("names each test that fails twice and each suite that does not run", async () => {
  const { code, output, gates } = await run("unit", {
    "src/failing.test.ts": failing,
    "src/late.test.ts": late,
    "src/broken.test.ts": "import './absent.ts';\n",
    "src/one.test.ts": passing,
  });

  expect(output).toContain("FAILED src/failing.test.ts: fails\n");
  expect(output).toContain("FAILED src/broken.test.ts did not run\n");
  expect(output).toMatch(/\n1 passed, 3 failed\n$/);
  expect(gates).toMatchObject([{ name: "unit", passed: 1, failed: 3 }]);
  expect(code).toBe(1);
});

it.concurrent("gives each suite of a worker its own fixtures and environment", async () => {
  const suite = `${ofJest}import { closed } from "./closing.fixture.ts";
it("finds nothing of another suite", () => {
  expect([closed, process.env.LEFT]).toEqual([[], undefined]);
  process.env.LEFT = "left";
});
it("has the hooks of its fixture", () => expect(closed).toEqual(["closed"]));
`;
  const closing = `import { afterEach } from "@jest/globals";
export const closed: string[] = [];
afterEach(() => void closed.push("closed"));
`;
  // Two workers take three suites, so that one of them takes two.
  const { code, output } = await run("unit", {
    "src/closing.fixture.ts": closing,
    "src/one.test.ts": suite,
    "src/three.test.ts": suite,
    "src/two.test.ts": suite,
  });

  expect(output).not.toContain("UNSTEADY");
  expect(output).toMatch(/\n6 passed, 0 failed\n$/);
  expect(code).toBe(0);
});

it.concurrent("removes the temporary files of a suite", async () => {
  const suite = `${ofJest}import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
it("writes temporary files", () => {
  writeFileSync(join(tmpdir(), "file"), "");
  writeFileSync("folder", tmpdir());
});
`;
  const { tree } = await run("unit", { "src/one.test.ts": suite });
  const temporary = readFileSync(join(tree, "folder"), "utf8");

  expect(temporary).toContain(join(tmpdir(), "posthaste-"));
  expect(existsSync(temporary)).toBe(false);
});

it.concurrent("fails a skipped test with CI=true", async () => {
  const skipping = `${passing}it.skip("is left out", () => undefined);\n`;
  const { code, output } = await run("unit", { "src/one.test.ts": skipping });

  expect(output).toContain("SKIPPED src/one.test.ts: is left out\n");
  expect(output).toMatch(/\n1 passed, 1 failed\n$/);
  expect(code).toBe(1);
});

it.concurrent("fails a gate whose suites leave something open", async () => {
  const leaving = `${passing}setInterval(() => undefined, 60_000);\n`;
  const { code, output } = await run("unit", { "src/one.test.ts": leaving });

  expect(output).toMatch(/^LEFT OPEN timer due in \d+ ms$/m);
  expect(output).toMatch(/^FAIL unit .* killed since a test left something open/m);
  expect(code).toBe(1);
});

it.concurrent("fails a gate that has no suite", async () => {
  const { code, output } = await run("simulation", {});

  expect(output).toMatch(/^FAIL simulation .* 0 passed, 1 failed {2}exit 1$/m);
  expect(code).toBe(1);
});

it.concurrent("skips a gate with the reason where its servers cannot run, and fails it with CI=true", async () => {
  const lacking = 'console.log("this host has no Java");\nprocess.exit(3);\n';
  const files = { "deploy/local/src/main.ts": lacking };
  const [read, unread] = await Promise.all([
    run("stores", files, { CI: "false" }),
    run("cluster", files),
  ]);

  expect(read.output).toContain("SKIPPED stores: this host has no Java\n");
  expect(read).toMatchObject({ code: 0, gates: [{ name: "stores", passed: 0, failed: 0 }] });
  expect(unread.output).toContain("SKIPPED cluster: this host has no Java\n");
  expect(unread).toMatchObject({ code: 1, gates: [{ name: "cluster", passed: 0, failed: 1 }] });
});

it.concurrent("fails a gate whose servers do not start", async () => {
  const files = { "deploy/local/src/main.ts": 'throw new Error("no room");\n' };
  const { code, output, gates } = await run("stores", files);

  expect(output).toContain("FAIL stores: there are no stores\n");
  expect(output).toContain("no room");
  expect(gates).toMatchObject([{ name: "stores", failed: 1 }]);
  expect(code).toBe(1);
});

it.concurrent("fails a gate whose teardown fails, and does not run its failed suite again", async () => {
  const { code, output } = await run("unit", {
    "src/late.test.ts": late,
    "teardown.js":
      'import { existsSync, writeFileSync } from "node:fs";\n' +
      'export default () => { if (existsSync("torn")) return; writeFileSync("torn", ""); throw new Error("not torn down"); };\n',
    "jest.config.js":
      'import config from "./jest.config.base.js";\n' +
      'export default { ...config, globalTeardown: "<rootDir>/teardown.js" };\n',
  });

  expect(output).not.toContain("UNSTEADY");
  expect(output).toContain("not torn down");
  expect(output).toMatch(/\n0 passed, 1 failed\n$/);
  expect(code).toBe(1);
});

it.concurrent("runs no gate when an unknown one is named", async () => {
  const { code, output } = await run("units", {});

  expect(output).toMatch(
    /^no gate is called units; there are static, lint, .*\n0 passed, 1 failed\n$/,
  );
  expect(code).toBe(1);
});

it.concurrent("runs gates that compute beside gates that wait, at a lower priority", async () => {
  const niceness = `(() => {
    const session = "/proc/self/autogroup";
    const nice = existsSync(session) ? readFileSync(session, "utf8").trim().split(" ").at(-1) : Infinity;
    return String(Math.min(getPriority(), nice));
  })()`;
  const { output, tree } = await run("deploy answers", {
    "src/one.deploy.test.ts": meeting("deploy", "answers", niceness),
    "src/two.answers.test.ts": meeting("answers", "deploy", niceness),
  });

  const nicenessOf = (gate: string) => Number(readFileSync(join(tree, gate), "utf8"));
  expect(output).toMatch(/\n2 passed, 0 failed\n$/);
  expect(nicenessOf("deploy")).toBeGreaterThan(nicenessOf("answers"));
});

it.concurrent("runs gates side by side, each with servers of its own, and stops the servers with their gate", async () => {
  const { code, output, tree } = await run("stores apart cluster", {
    ...ofServers,
    "src/one.stack.test.ts": meeting("stores", "apart", "process.env.POSTHASTE_TEST_STORES"),
    "src/two.e2e.test.ts": meeting("apart", "stores", "process.env.POSTHASTE_TEST_STORES"),
    "src/three.cluster.test.ts": passing,
  });

  const [one, two] = ["stores", "apart"].map((gate) => readFileSync(join(tree, gate), "utf8"));
  expect(one).not.toBe(two);
  for (const file of [one, two]) expect(readFileSync(`${file}.log`, "utf8")).toBe("began, ended");
  expect(output).toMatch(/\n3 passed, 0 failed\n$/);
  expect(code).toBe(0);
});

it.concurrent("begins a gate that reads the output of another when that has ended", async () => {
  const { output } = await run("end-to-end answers", {
    ...ofServers,
    "src/one.e2e.test.ts": `${ofJest}import { setTimeout } from "node:timers/promises";
import { writeFileSync } from "node:fs";
it("leaves something", async () => {
  await setTimeout(1_000);
  writeFileSync("left", "");
});
`,
    "src/two.answers.test.ts": `${ofJest}import { existsSync } from "node:fs";
it("finds it", () => expect(existsSync("left")).toBe(true));
`,
  });

  expect(output).not.toContain("UNSTEADY");
  expect(output).toMatch(/\n2 passed, 0 failed\n$/);
});

/** Runs gates over a tree of these files, with the configuration of this repository. */
function run(
  names: string,
  files: Readonly<Record<string, string>>,
  env: Readonly<Record<string, string>> = { CI: "true" },
): Promise<Ran> {
  const tree = mkdtempSync(join(folder, "tree-"));
  cpSync(join(root, "scripts"), join(tree, "scripts"), {
    recursive: true,
    filter: (path) => !path.includes("node_modules") && !path.endsWith(".test.ts"),
  });
  cpSync(join(root, "jest.config.js"), join(tree, "jest.config.base.js"));
  symlinkSync(join(root, "node_modules"), join(tree, "node_modules"));
  const all = {
    "package.json": '{ "type": "module" }',
    "jest.config.js": 'export { default } from "./jest.config.base.js";\n',
    ...files,
  };
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), text);
  }
  return new Promise((resolve) => {
    const args = [join(tree, "scripts/test.js"), ...names.split(" ")];
    const options = { cwd: tree, env: { ...process.env, ...env } };
    const child = execFile(process.execPath, args, options, (_, output) => {
      const { exitCode } = child;
      resolve({ code: exitCode ?? -1, output, gates: gatesOf(tree), tree });
    });
  });
}

function gatesOf(tree: string): Ran["gates"] {
  try {
    return JSON.parse(
      readFileSync(join(tree, ".cache/reports/gates.json"), "utf8"),
    ) as Ran["gates"];
  } catch {
    return [];
  }
}
