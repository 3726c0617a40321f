// Checks that each citation in a comment or a page leads somewhere.
//
// A comment may cite `ADR 7`, a page of this repository (`docs/design/record`) and a heading in it
// (`docs/design/record#the-alarm`), or an invariant: a capital letter and a number, listed in docs/guarantees.md. Numbers
// within one file are (1), (2). Links between pages are followed, too.
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { anchorsOf, isExternal, linksOf } from "./links.ts";

const root = dirname(import.meta.dirname);
const sources = [
  "{apps,bench,deploy,examples,libs,scripts,services,tests}/**/*.{ts,tsx,js}",
  "*.{js,cjs}",
];
const pages = ["{apps,bench,deploy,docs,examples,helm,libs,services,tests}/**/*.md", "*.md"];
const isForeign = (name) => ["node_modules", "toolchain", "dist"].includes(name);

/** Names that look like invariants: products, and ranges of characters. */
const otherNumbers = new Set(["V8", "H2", "C0"]);

export function readComments() {
  const comments = globSync(sources, { cwd: root, exclude: isForeign }).flatMap((file) =>
    commentsIn(file, read(file)),
  );
  return [
    ...comments.flatMap(problemsOf),
    ...globSync(pages, { cwd: root, exclude: isForeign }).flatMap(deadLinks),
    ...unlisted("docs/README.md", "docs/*.md"),
    ...unlisted("docs/adr/README.md", "docs/adr/*.md"),
  ];
}

const read = (file) => readFileSync(join(root, file), "utf8");

/** Returns comments line by line. A comment of this code begins its line, or ends it after a space. */
function commentsIn(file, source) {
  return source.split("\n").flatMap((line, nth) => {
    const [, text] = /^\s*(?:\/\/|\/?\*+)(.*)$/.exec(line) ?? /\s\/\/\s(.*)$/.exec(line) ?? [];
    return text === undefined ? [] : [{ place: `${file}:${nth + 1}`, text }];
  });
}

function problemsOf({ place, text }) {
  const cites = (pattern) => [...text.matchAll(pattern)];
  const missing = [
    ...cites(/\bADRs? (\d+)(?:(?:, | and )(\d+))*/g).flatMap(([all]) =>
      all
        .match(/\d+/g)
        .filter((n) => !adrs.has(Number(n)))
        .map((n) => `ADR ${n}`),
    ),
    ...cites(/(?<![\w/.:-])(?:[\w-]+\/)*[\w.-]+\.md\b(?:#[\w-]+)?|\bdocs\/[\w/.-]*\w(?:#[\w-]+)?/g)
      .map(([page]) => page)
      .filter((page) => !leadsSomewhere(page)),
    ...cites(/(?<!RFC \d+ )§ ?[\w.]*/g).map(([section]) => `${section}: name the heading`),
    ...cites(/\b[A-Z]\d{1,2}\b/g)
      .map(([name]) => name)
      .filter((name) => !otherNumbers.has(name) && !invariants.has(name)),
  ];
  return missing.map((what) => `${place} cites ${what}`);
}

const adrs = new Set(
  globSync("docs/adr/*.md", { cwd: root }).map((file) => Number(/(\d+)-/.exec(file)?.[1])),
);
const invariants = new Set(
  [...read("docs/guarantees.md").matchAll(/\*\*([A-Z]\d{1,2})\*\*/g)].map(([, name]) => name),
);

/** Reports whether `cited` exists, from the root or from docs/, with or without its ending. */
function leadsSomewhere(cited, from = "") {
  const [page, heading] = cited.split("#");
  const file = [page, `${page}.md`, `docs/${page}`]
    .map((path) => join(from, path))
    .find((path) => existsSync(join(root, path)));
  if (file === undefined) return false;
  return heading === undefined || (file.endsWith(".md") && headingsOf(file).has(heading));
}

const anchors = new Map();
function headingsOf(file) {
  if (!anchors.has(file)) anchors.set(file, anchorsOf(read(file)));
  return anchors.get(file);
}

/** Returns the pages that their index does not link to. */
function unlisted(index, listed) {
  const text = read(index);
  return globSync(listed, { cwd: root })
    .filter((file) => file !== index && !text.includes(`](${relative(dirname(index), file)})`))
    .map((file) => `${index} does not lead to ${file}`);
}

/** Returns the broken links. A link names a file or folder of this repository, and a heading as GitHub and the site name it. */
function deadLinks(file) {
  return linksOf(read(file))
    .filter(({ target }) => !isExternal(target) && !isThere(target, file))
    .map(({ target }) => `${file} links to ${target}`);
}

function isThere(target, from) {
  const [path, heading] = decodeURI(target).split("#");
  const file = path === "" ? from : normalize(join(dirname(from), path));
  if (path.startsWith("/") || file.startsWith("..") || !existsSync(join(root, file))) return false;
  return heading === undefined || (file.endsWith(".md") && headingsOf(file).has(heading));
}
