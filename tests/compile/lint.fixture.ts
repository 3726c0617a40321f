import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { temporaryFolder } from "@posthaste/testing/temporary-folder";

const root = resolve(import.meta.dirname, "../..");
const config = [
  "oxlint.config.ts",
  "scripts/lint-rules.js",
  "scripts/wall-clock.js",
  "package.json",
  "tsconfig.json",
  "tsconfig.base.json",
];
const outputBytesMax = 16 * 1024 * 1024;
const lintMsMax = 60_000;

type Report = {
  readonly diagnostics: readonly {
    /** Undefined for an unused directive. */
    readonly code?: string;
    readonly message: string;
    readonly filename: string;
  }[];
};

export type Finding = { readonly rule: string | undefined; readonly message: string };

/** Lints a tree with this repository's settings and `files`, texts by path. Returns the findings of a file. */
export function lint(files: ReadonlyMap<string, string>): (path: string) => readonly Finding[] {
  const folder = temporaryFolder();
  for (const each of config) cpSync(join(root, each), join(folder, each));
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  const text = report(folder, [...files.keys()]);
  if (!text.startsWith("{")) throw new Error(`the linter did not run: ${text}`);
  const { diagnostics } = JSON.parse(text) as Report;
  return (path) =>
    diagnostics
      .filter(({ filename }) => filename === path)
      .map(({ code, message }) => ({ rule: code?.replace(/^(.*)\((.*)\)$/, "$1/$2"), message }));
}

function report(folder: string, paths: readonly string[]): string {
  const linter = join(root, "node_modules/oxlint/bin/oxlint");
  try {
    return execFileSync(process.execPath, [linter, "--format=json", ...paths], {
      cwd: folder,
      encoding: "utf8",
      maxBuffer: outputBytesMax,
      timeout: lintMsMax,
    });
  } catch (error) {
    // The linter exits with this code when it has findings.
    return (error as { stdout: string }).stdout;
  }
}
