// Makes a package from libs/client that runtimes load as it is, with its types: ES modules, and CommonJS beside them, except
// `./node`, whose one dependency has modules only (ADR 206).
//
//   node scripts/package-client.js [FOLDER]     by default libs/client/dist
//   npm pack ./libs/client/dist
import { execFileSync } from "node:child_process";
import { globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";
import { writePublished } from "./published.js";

const root = dirname(import.meta.dirname);
const source = join(root, "libs/client");
const target = resolve(process.argv[2] ?? join(source, "dist"));
const own = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
/** `.`, `./receiver` and so on, each with its source file. */
const entries = Object.entries(own.exports);
const modulesOnly = new Set(["./node"]);

rmSync(target, { recursive: true, force: true });
writeTypes();
await bundle(entries, { format: "esm" });
await bundle(
  entries.filter(([entry]) => !modulesOnly.has(entry)),
  { format: "cjs", outExtension: { ".js": ".cjs" } },
);
writePublished({
  source,
  target,
  page: "client.md",
  fields: {
    name: own.name,
    sideEffects: false,
    // For tools that do not read `exports`.
    main: "./index.cjs",
    types: "./index.d.cts",
    exports: { ...Object.fromEntries(entries.map(exported)), "./package.json": "./package.json" },
    files: ["**/*.js", "**/*.cjs", "**/*.d.ts", "**/*.d.cts", "README.md", "LICENSE"],
    dependencies: own.dependencies,
  },
});

function bundle(some, options) {
  return build({
    absWorkingDir: source,
    entryPoints: some.map(([, file]) => file),
    outbase: "src",
    outdir: target,
    bundle: true,
    packages: "external",
    platform: "node",
    target: "node22",
    minify: true,
    ...options,
  });
}

function exported([entry, file]) {
  const at = file.replace("./src/", "./").replace(/\.ts$/, "");
  const asModule = { types: `${at}.d.ts`, default: `${at}.js` };
  const asCommonJs = { types: `${at}.d.cts`, default: `${at}.cjs` };
  return [
    entry,
    modulesOnly.has(entry)
      ? asModule
      : { import: asModule, require: asCommonJs, default: asModule },
  ];
}

/** Writes the types of either kind: a declaration names the files of its own kind. */
function writeTypes() {
  const compiler = join(root, "node_modules/typescript/bin/tsc");
  const files = entries.map(([, file]) => join(source, file));
  const options = {
    extends: join(root, "tsconfig.base.json"),
    files,
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      rootDir: join(source, "src"),
      outDir: target,
    },
  };
  const config = join(source, "node_modules/.package.tsconfig.json");
  writeFileSync(config, JSON.stringify(options));
  const typeRoots = join(root, "node_modules/@types");
  execFileSync(process.execPath, [compiler, "-p", config, "--typeRoots", typeRoots], {
    stdio: "inherit",
  });
  for (const name of globSync("**/*.d.ts", { cwd: target })) {
    const path = join(target, name);
    const text = readFileSync(path, "utf8");
    const naming = (extension) =>
      text.replace(/(from |import\()"(\.[^"]+)\.ts"/g, `$1"$2.${extension}"`);
    writeFileSync(path, naming("js"));
    writeFileSync(path.replace(/\.ts$/, ".cts"), naming("cjs"));
  }
}
