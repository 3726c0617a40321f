// Makes a release from a clean checkout.
//
//   npm run release -- 0.2.0                 the gates, then the files to publish, in a folder of their own
//   npm run release -- 0.2.0 --write         the same, then a commit and a tag in this checkout
//   npm run release -- 0.2.0 --rehearsal     only the files, of the checkout as it is, without the gates
//   --out FOLDER                             where the files go, by default .cache/release/0.2.0
//
// (1) Only --write changes the checkout, as its last step. Nothing is published.
// (2) At the tag of a version the command makes the same files again, and leaves the tree unchanged.
// (3) The folder holds the files of one run: a folder with other files is refused.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { parseDockerignore } from "../../deploy/checks/src/image/dockerignore.ts";
import { renderChartReadme } from "../chart-readme.js";
import { copyTree, replaceFile } from "../copy-tree.js";
import { homepage } from "../homepage.ts";
import { thirdParty } from "../third-party.js";
import { sectionOf, withSection } from "./changelog.ts";
import { imageOf, packedChart } from "./chart.js";
import { baseOf, sbomInImage, withLabels } from "./image.js";
import { renderSbom } from "./sbom.js";
import { whyNoVersion, withVersion } from "./version.ts";

const root = resolve(import.meta.dirname, "../..");
/** On the file system of the checkout, for hard links; two runs do not collide. */
const copy = join(root, `.cache/release/tree-${process.pid}`);
const chart = "helm/posthaste";
const changelog = "CHANGELOG.md";

try {
  release(askedFor());
} catch (error) {
  console.error(`release: ${error.message}`);
  process.exitCode = 1;
}

function askedFor() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: {
      write: { type: "boolean", default: false },
      rehearsal: { type: "boolean", default: false },
      out: { type: "string" },
    },
  });
  const [version, ...others] = positionals;
  if (version === undefined || others.length > 0)
    throw new Error("name one version: npm run release -- 0.2.0");
  if (values.write && values.rehearsal)
    throw new Error("--write and --rehearsal: a rehearsal writes nothing");
  const tag = `v${version}`;
  const out = resolve(values.out ?? join(root, ".cache/release", version));
  return { ...values, version, tag, out };
}

function release(asked) {
  const { out, rehearsal, write } = asked;
  const tree = readTree(asked);
  if (write && tree.isTagged) throw new Error(`${asked.tag} is tagged already`);
  if (!rehearsal) mustBeClean();
  if (filesIn(out).length > 0)
    throw new Error(`${out} is not empty: choose another folder with --out`);
  if (rehearsal) warn("REHEARSAL: no gate is run. Do not publish these files.");
  else gates();

  const files = copyTree(copy);
  try {
    const changed = edit(asked, tree, files);
    mkdirSync(out, { recursive: true });
    make(asked, tree, files);
    if (write) keep(asked, changed);
    tell(asked);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function filesIn(folder) {
  return existsSync(folder) ? readdirSync(folder) : [];
}

/** Reads the last release and this one from git and the tree. */
function readTree({ version, tag }) {
  const tags = git("tag", "--list", "v*", "--sort=-v:refname", "--merged", "HEAD").split("\n");
  const isTagged = tags.includes(tag);
  const last = tags.filter((each) => each !== "" && each !== tag)[0];
  const wrong = whyNoVersion(version, last?.slice(1));
  if (wrong !== undefined) throw new Error(wrong);
  const at = new Date(Number(git("log", "-1", "--format=%ct")) * 1000).toISOString();
  const { version: current } = JSON.parse(read(root, "package.json"));
  // Without a tag the changelog's section is as old as its heading.
  const since = last ?? git("log", "-1", "--format=%H", "-S## Unreleased", "--", changelog);
  const subjects = git("log", "--no-merges", "--format=%s", since ? `${since}..HEAD` : "HEAD");
  return {
    isTagged,
    current,
    at,
    revision: git("rev-parse", "HEAD"),
    subjects: subjects.split("\n").filter((each) => each !== ""),
  };
}

function mustBeClean() {
  const changed = git("status", "--porcelain");
  if (changed !== "")
    throw new Error(`the checkout has changes; commit them, or try with --rehearsal:\n${changed}`);
}

function gates() {
  const { status } = spawnSync("npm", ["test"], { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new Error("a gate failed: nothing was made");
}

/** Sets the version in the copy and turns the changelog's head into its section. Returns the changed files, by path. */
function edit({ version }, { current, at, subjects }, files) {
  const edits = new Map();
  const named = files.filter((path) => /(^|\/)package\.json$|^docs\/(cli|client)\.md$/.test(path));
  for (const path of [...named, `${chart}/Chart.yaml`])
    edits.set(path, (text) => withVersion(path, text, current, version));
  const date = at.slice(0, 10);
  edits.set(changelog, (text) => withSection(text, { version, date, subjects }));
  const changed = new Map();
  for (const [path, edited] of edits) {
    const text = read(copy, path);
    const next = edited(text);
    if (next === text) continue;
    replaceFile(join(copy, path), next);
    changed.set(path, next);
  }
  return changed;
}

function make(asked, tree, files) {
  const { version, out } = asked;
  for (const [script, name] of [
    ["package-cli.js", "posthaste"],
    ["package-client.js", "posthaste-client"],
  ]) {
    const packed = join(copy, ".cache/packed", name);
    run(process.execPath, [join("scripts", script), packed]);
    run("npm", ["pack", packed, "--pack-destination", out, "--ignore-scripts", "--silent"]);
  }
  const base = baseOf(read(copy, "deploy/Dockerfile"));
  const bom = { version, at: tree.at, homepage, packages: thirdParty() };
  writeFileSync(join(out, `posthaste-${version}.cdx.json`), renderSbom(bom));
  makeImageContext(asked, tree, files, { base, sbom: renderSbom({ ...bom, base }) });
  makeChart(asked);
  const notes = sectionOf(read(copy, changelog), version);
  writeFileSync(join(out, "release-notes.md"), `${notes}\n`);
  const sums = filesIn(out)
    .sort()
    .map((name) => `${sha256(join(out, name))}  ${name}\n`);
  writeFileSync(join(out, "SHA256SUMS"), sums.join(""));
}

function makeImageContext({ version, out }, { at, revision }, files, { base, sbom }) {
  const dockerfile = read(copy, "deploy/Dockerfile");
  const labelled = withLabels(dockerfile, { version, at, revision, homepage, base });
  replaceFile(join(copy, "deploy/Dockerfile"), labelled);
  replaceFile(join(copy, sbomInImage), sbom);
  const isIgnored = parseDockerignore(read(copy, ".dockerignore"));
  const sources = files.filter((path) => !isIgnored(path));
  const all = [...sources, sbomInImage, ".dockerignore", "deploy/Dockerfile"];
  pack(join(out, `posthaste-image-${version}.tar.gz`), copy, all, at);
}

function makeChart({ version, out }) {
  const folder = join(copy, chart);
  const image = `${imageOf(homepage)}:${version}`;
  const notes = sectionOf(read(copy, changelog), version);
  const edits = packedChart({ image, version, notes, homepage });
  for (const [name, edited] of Object.entries(edits))
    replaceFile(join(folder, name), edited(read(folder, name)));
  replaceFile(join(folder, "README.md"), renderChartReadme(folder));
  // The value sets of the tests are left out (.helmignore).
  const names = globSync(["**", "templates/_*"], { cwd: folder })
    .filter((name) => statSync(join(folder, name)).isFile() && !name.startsWith("ci/"))
    .map((name) => join("posthaste", name));
  // The command's package is already named posthaste-0.2.0.tgz.
  pack(join(out, `posthaste-chart-${version}.tgz`), dirname(folder), names);
}

/** Packs files so that the same files give the same bytes. */
function pack(target, folder, names, at = "1980-01-01T00:00:00Z") {
  const list = [...new Set(names)].sort().join("\n");
  const same = [
    ...["--sort=name", `--mtime=${at}`, "--owner=0", "--group=0", "--numeric-owner"],
    ...["--mode=u=rwX,go=rX", "--use-compress-program=gzip -9n"],
  ];
  const from = ["--directory", folder, "--files-from=-"];
  run("tar", ["--create", "--file", target, ...same, ...from], { input: list });
}

/** Puts the changed files into the checkout, and commits and tags them. */
function keep({ version, tag }, changed) {
  for (const [path, text] of changed) replaceFile(join(root, path), text);
  run(process.execPath, ["scripts/generate.js"], { cwd: root });
  git("commit", "--all", "--allow-empty", "--message", `Release ${version}`);
  git("tag", "--annotate", tag, "--message", `Posthaste ${version}`);
}

function tell({ version, tag, out, write, rehearsal }) {
  console.log(`\nmade in ${out}:`);
  for (const name of filesIn(out)) console.log(`  ${name}`);
  if (rehearsal) return warn("REHEARSAL: no gate was run. Do not publish these files.");
  const image = imageOf(homepage);
  const registry = image.slice(0, image.lastIndexOf("/"));
  if (write)
    return console.log(`
${tag} is committed and tagged. The workflow makes these files again from the tag and publishes them:
  git push origin HEAD ${tag}`);
  console.log(`
to publish them by hand, from the tag, in ${out}:
  sha256sum --check SHA256SUMS
  npm publish posthaste-client-${version}.tgz --provenance=false
  npm publish posthaste-${version}.tgz --provenance=false
  docker build --tag ${image}:${version} --file deploy/Dockerfile - < posthaste-image-${version}.tar.gz
  docker push ${image}:${version}
  helm push posthaste-chart-${version}.tgz oci://${registry}/charts
  gh release create ${tag} --notes-file release-notes.md *.tgz *.tar.gz *.json SHA256SUMS`);
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (status !== 0) throw new Error(`git ${args[0]}: ${stderr.trim()}`);
  return stdout.trim();
}

function run(command, args, options = {}) {
  const { status, stderr, error } = spawnSync(command, args, {
    cwd: copy,
    encoding: "utf8",
    ...options,
  });
  if (status !== 0) throw new Error(`${command} ${args[0]}: ${error?.message ?? stderr.trim()}`);
}

function read(folder, path) {
  return readFileSync(join(folder, path), "utf8");
}

function sha256(file) {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}

function warn(text) {
  const line = "!".repeat(text.length + 4);
  console.error(`${line}\n! ${text} !\n${line}`);
}
