// Makes the package `posthaste` from apps/cli: the command, the standalone and the console in a few files, with all
// their dependencies, so that the package runs without this repository and installs nothing else (ADR 51).
//
//   node scripts/package-cli.js [FOLDER]     by default apps/cli/dist
//   npm pack ./apps/cli/dist
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { writePublished } from "./published.js";

const root = dirname(import.meta.dirname);
const source = join(root, "apps/cli");
const target = resolve(process.argv[2] ?? join(source, "dist"));

rmSync(target, { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints: [
    { in: "apps/cli/src/main.ts", out: "posthaste" },
    // A thread of the store, started by its file name.
    { in: "libs/embedded/src/database/checkpoint-worker.ts", out: "checkpoint-worker" },
  ],
  outdir: target,
  bundle: true,
  // Only `posthaste dev` loads the standalone.
  splitting: true,
  platform: "node",
  target: "node24",
  format: "esm",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  // `debug` tries to load it, and must not find a tool's copy in this repository.
  external: ["supports-color"],
  metafile: true,
  // Packages in CommonJS ask for Node's own modules by `require`.
  banner: { js: 'import{createRequire as r_}from"node:module";const require=r_(import.meta.url);' },
  plugins: [{ name: "as-packaged", setup: asPackaged }],
});
const builder = join(root, "scripts/build-console.js");
execFileSync(process.execPath, [builder, join(target, "console")], { stdio: "inherit" });
rmSync(join(target, "console/.made"));
const licensed = ["LICENSE", "THIRD-PARTY-LICENSES"];
writePublished({
  source,
  target,
  page: "cli.md",
  fields: {
    name: "posthaste",
    bin: { posthaste: "posthaste.js" },
    // Nothing is imported from the package: it is a program.
    exports: { "./package.json": "./package.json" },
    files: ["*.js", "console", "README.md", ...licensed],
  },
});
writeFileSync(join(target, "THIRD-PARTY-LICENSES"), licences());

/** Rewrites names resolved at run time, so that the bundler sees them or they match the package. */
function asPackaged({ onEnd, onLoad }) {
  const replace = (filter, text, by) => {
    let isReplaced = false;
    onLoad({ filter }, ({ path }) => {
      const contents = readFileSync(path, "utf8");
      if (!contents.includes(text)) throw new Error(`${path}: has no ${text}`);
      isReplaced = true;
      return { contents: contents.replace(text, by), loader: "ts" };
    });
    onEnd(() => {
      if (!isReplaced) throw new Error(`no file ${filter} was packed`);
    });
  };
  replace(
    /embedded\/src\/database\/write-ahead-log\.ts$/,
    "checkpoint-worker.ts",
    "checkpoint-worker.js",
  );
  replace(
    /retry-delays-mathjs\/src\/expression\.ts$/,
    'createRequire(import.meta.url)("mathjs/number")',
    'require("mathjs/number")',
  );
}

/** Returns the licences of the packages inside. The console's licences are in Vite's output. */
function licences() {
  const inside = Object.keys(metafile.inputs).flatMap((path) => {
    const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? [];
    return folder === undefined ? [] : [folder];
  });
  return [...new Set(inside)].sort().map(licenceOf).join("\n\n");
}

function licenceOf(folder) {
  const at = join(root, folder);
  const { name, version, license } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
  const file = readdirSync(at).find((each) => /^licen[cs]e/i.test(each));
  const text = file && existsSync(join(at, file)) ? readFileSync(join(at, file), "utf8") : "";
  return `${name} ${version} (${license})\n\n${text}`;
}
