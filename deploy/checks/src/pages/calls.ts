/**
 * Collects the docker, helm and kubectl calls of a page's code block. A shell runs the block with stand-ins on its path that
 * note their arguments and do nothing.
 */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../root.ts";

export type Call = { readonly program: string; readonly args: readonly string[] };

const programs = ["docker", "helm", "kubectl"];

/** Rejects when a shell cannot run the block to its end. */
export async function callsOf(script: string): Promise<readonly Call[]> {
  const folder = mkdtempSync(join(tmpdir(), "posthaste-page-"));
  try {
    const noted = join(folder, "calls");
    for (const program of programs) {
      const file = join(folder, program);
      writeFileSync(file, standIn(program, noted));
      chmodSync(file, 0o755);
    }
    const env = { PATH: `${folder}:${process.env["PATH"]}`, HOME: folder };
    await promisify(execFile)("sh", ["-euc", script], { cwd: root, env });
    if (!existsSync(noted)) return [];
    const lines = readFileSync(noted, "utf8").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Call);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The stand-in passes its arguments by standard input, since Node would take some of them for its own. */
const standIn = (program: string, noted: string): string => `#!/bin/sh
printf '%s\\0' "$@" | "${process.execPath}" --eval '
const args = require("node:fs").readFileSync(0, "utf8").split("\\0").slice(0, -1);
const call = JSON.stringify({ program: "${program}", args });
require("node:fs").appendFileSync("${noted}", call + "\\n");'
`;
