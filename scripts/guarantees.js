// Checks the guarantees, tests/guarantees/: each file and each test that a row names exists, and the page of promises
// has each number.
//
// A file is { section, of?, promise?, rows }, and a row { promise?, tests, wrong? }, see docs/guarantees.md. In
// `tests` a file is in `backticks`, without its folder and ending (`e2e/queues.e2e`), and the name of a test in
// _italics_, cut by an ellipsis if it is long. The placeholders of a table of cases match any text.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const root = dirname(import.meta.dirname);
const folders = ["", "libs/", "services/", "apps/", "tests/", "deploy/", "bench/"];
const endings = [
  ".test.ts",
  ".test.tsx",
  ".e2e.test.ts",
  ".stack.test.ts",
  ".ts",
  ".tsx",
  ".js",
  "",
];
const sources = "{apps,bench,deploy,libs,scripts,services,tests}/**/*.{ts,tsx}";
const isForeign = (name) => ["node_modules", "dist"].includes(name);
const page = "docs/guarantees.md";
const fields = ["promise", "tests", "wrong"];
/** `%s` and `$name` of a table of cases, and a template's expressions. */
const placeholder = /%[sijdp]|\$\w+|\$\{[^}]*\}/;

/** A pattern with fewer fixed characters would match any name. */
const literalCharsMin = 8;

export function guarantees() {
  return globSync("tests/guarantees/*.json", { cwd: root })
    .toSorted()
    .map((path) => ({ path, ...JSON.parse(readFileSync(join(root, path), "utf8")) }));
}

export function readGuarantees() {
  const isThere = testNames();
  const promises = readFileSync(join(root, page), "utf8");
  return guarantees().flatMap(({ path, rows }) =>
    rows.flatMap((row, nth) =>
      faultsOf(row, isThere, promises).map((fault) => `${path}[${nth}] ${fault}`),
    ),
  );
}

function faultsOf(row, isThere, promises) {
  const strange = Object.keys(row).filter((field) => !fields.includes(field));
  if (strange.length > 0) return [`has the field ${strange[0]}`];
  const tests = row.tests?.join("; ") ?? "";
  const [number] = /\*\*[A-Z]\d+\*\*/.exec(row.promise ?? "") ?? [];
  return [
    ...(tests === "" ? ["names no test"] : []),
    ...(number && !promises.includes(number) ? [`has ${number}, which ${page} does not have`] : []),
    ...filesIn(tests)
      .filter((file) => !hasFile(file))
      .map((file) => `names the file ${file}, which does not exist`),
    ...namesIn(tests)
      .filter((name) => !isThere(name))
      .map((name) => `names the test "${name}", which does not exist`),
  ];
}

const filesIn = (text) =>
  [...text.matchAll(/`([\w.@-]+(?:\/[\w.@-]+)+)`/g)].map(([, file]) => file);

function hasFile(file) {
  const path = file.replace(/^sim\//, "simulation/");
  return folders.some((folder) =>
    endings.some((end) => existsSync(join(root, folder + path + end))),
  );
}

const namesIn = (text) =>
  [...text.matchAll(/(?<![\w`])_((?:[^_`]|`[^`]*`)+)_(?!\w)/g)].flatMap(([, name]) =>
    name.split("…").flatMap((piece) => plain(piece).trim() || []),
  );

const plain = (text) => text.replaceAll(/[`\\]/g, "");

/** Returns a function that reports whether a name, or a piece of one, is a test's. */
function testNames() {
  const files = globSync(sources, { cwd: root, exclude: isForeign });
  const text = files.map((file) => plain(readFileSync(join(root, file), "utf8"))).join("\n");
  const tables = [...text.matchAll(/"([^"\n]*(?:%[sijd]|\$\w)[^"\n]*)",/g)].map(([, name]) => name);
  const templates = [...text.matchAll(/\((.*\$\{.*),$/gm)].map(([, name]) => name);
  const patterns = [...tables, ...templates]
    .map((name) => name.split(placeholder))
    .filter((parts) => parts.join("").length >= literalCharsMin)
    .map((parts) => new RegExp(`^${parts.map((part) => RegExp.escape(part)).join(".*")}$`));
  return (name) => text.includes(name) || patterns.some((pattern) => pattern.test(name));
}
