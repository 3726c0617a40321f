// Makes a package from libs/client that Node loads as it is, with its types; the services need no build. The package has ES
// modules only: `require` loads them, too, on the Node versions that its one dependency supports (ADR 50).
//
//   node scripts/package-client.js [FOLDER]     by default libs/client/dist
//   npm pack libs/client/dist
import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);
const source = join(root, "libs/client");
const target = resolve(process.argv[2] ?? join(source, "dist"));
const own = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
/** `.` and `./receiver`, each with its source file. */
const entries = Object.entries(own.exports);

rmSync(target, { recursive: true, force: true });
writeTypes();
await build({
  absWorkingDir: source,
  entryPoints: entries.map(([, file]) => file),
  outbase: "src",
  outdir: target,
  bundle: true,
  packages: "external",
  platform: "node",
  target: "node22",
  format: "esm",
  minify: true,
});
writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest(), undefined, 2)}\n`);
cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
cpSync(join(root, "docs/client.md"), join(target, "README.md"));

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
}

function manifest() {
  const { name, version, description, license, type, engines, dependencies } = own;
  const sideEffects = false;
  const exports = Object.fromEntries(
    entries.map(([entry, file]) => {
      const at = file.replace("./src/", "./").replace(/\.ts$/, "");
      return [entry, { types: `${at}.d.ts`, default: `${at}.js` }];
    }),
  );
  return { name, version, description, license, type, sideEffects, engines, exports, dependencies };
}
