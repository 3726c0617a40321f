// Reads the wrong lines of tests/mutations/: each is a careless change of one place, with the test that must fail for it.
//
// A file is a list of { file, text, wrong, test, name, promise }. `text` occurs once in `file` and is replaced by
// `wrong`; then a test in `test` whose name contains `name` fails. `promise` is a section of tests/guarantees/.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { guarantees } from "./guarantees.js";

const root = dirname(import.meta.dirname);
const fields = ["file", "name", "place", "promise", "test", "text", "wrong"];

export function wrongLines() {
  return globSync("tests/mutations/*.json", { cwd: root })
    .toSorted()
    .flatMap((path) =>
      JSON.parse(read(path)).map((line, nth) => ({ place: `${path}[${nth}]`, ...line })),
    );
}

export function readWrongLines() {
  const sections = new Set(guarantees().flatMap(({ of = [], section }) => [section, of].flat()));
  return wrongLines().flatMap((line) => faultsOf(line, sections).map((f) => `${line.place} ${f}`));
}

function faultsOf(line, sections) {
  if (Object.keys(line).toSorted().join() !== fields.join())
    return [`has other fields than ${fields.join(", ")}`];
  const { file, text, wrong, test, promise } = line;
  const missing = [file, test].find((path) => !existsSync(join(root, path)));
  if (missing) return [`names ${missing}, which does not exist`];
  const times = read(file).split(text).length - 1;
  return [
    ...(times === 1 ? [] : [`has a text that occurs ${times} times in ${file}, not once`]),
    ...(text === wrong ? ["changes nothing"] : []),
    ...(sections.has(promise) ? [] : [`names no section of tests/guarantees: ${promise}`]),
  ];
}

const read = (path) => readFileSync(join(root, path), "utf8");
