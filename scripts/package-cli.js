// Makes of apps/cli a package that Node takes as it is, in one file and without dependencies.
//
//   node scripts/package-cli.js [FOLDER]     apps/cli/dist unless said otherwise
//   npm pack apps/cli/dist
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { build } from "esbuild";

const root = dirname(import.meta.dirname);
const source = join(root, "apps/cli");
const target = resolve(process.argv[2] ?? join(source, "dist"));
const own = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));

rmSync(target, { recursive: true, force: true });
await build({
  absWorkingDir: source,
  entryPoints: ["src/main.ts"],
  outfile: join(target, "posthaste.js"),
  bundle: true,
  platform: "node",
  target: "node22",
  format: "esm",
  minify: true,
  legalComments: "eof",
  // Some of what it bundles is CommonJS, which asks for Node's own modules by `require`.
  banner: {
    js: 'import { createRequire as _createRequire } from "node:module"; const require = _createRequire(import.meta.url);',
  },
});
const { version, description, license, type, engines } = own;
const manifest = {
  ...{ name: "posthaste", version, description, license, type, engines },
  bin: { posthaste: "./posthaste.js" },
};
writeFileSync(join(target, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
cpSync(join(root, "LICENSE"), join(target, "LICENSE"));
cpSync(join(root, "docs/cli.md"), join(target, "README.md"));
