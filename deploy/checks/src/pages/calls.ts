/**
 * What a block of a page would have docker, helm and kubectl do: a shell runs it, with stand-ins of that name on its path that
 * note how they are called and do nothing.
 */
import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { root } from "../root.ts";

export type Call = { readonly program: string; readonly args: readonly string[] };

const programs = ["docker", "helm", "kubectl"];

/** Rejects when the block is none that a shell can run to its end. */
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

/** Arguments by standard input: Node takes some of those for its own that stand behind its script. */
const standIn = (program: string, noted: string): string => `#!/bin/sh
printf '%s\\0' "$@" | "${process.execPath}" --eval '
const args = require("node:fs").readFileSync(0, "utf8").split("\\0").slice(0, -1);
const call = JSON.stringify({ program: "${program}", args });
require("node:fs").appendFileSync("${noted}", call + "\\n");'
`;
