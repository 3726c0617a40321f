import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";

const root = dirname(dirname(import.meta.dirname));

export const consoleFolder = join(root, ".cache/console");

export function buildConsole(): void {
  execFileSync(process.execPath, [join(root, "scripts/build-console.js"), consoleFolder]);
}
