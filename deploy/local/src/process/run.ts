/** Runs a command to its end, which comes at the latest with the end of this process. */
import { type SpawnOptions, spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { addWill, removeWill } from "./last-will.ts";

export type Run = {
  readonly cwd?: string;
  readonly argv0?: string;
  readonly input?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
};

const outputCharsMax = 20_000;
const shownCharsMax = 1_500;
const triesMax = 3;
const pauseMs = 3_000;

/** Returns standard output. Throws with the end of the output when the command fails. */
export async function run(
  file: string,
  args: readonly string[],
  options: Run = {},
): Promise<string> {
  const { input, ...others } = options;
  const stdio: SpawnOptions["stdio"] = ["pipe", "pipe", "pipe"];
  const child = spawn(file, args, { stdio, detached: true, ...others });
  // A command may end without reading its input; the exit code shows whether it failed.
  child.stdin?.on("error", () => undefined);
  child.stdin?.end(input ?? "");
  const { pid } = child;
  if (pid !== undefined) addWill(`group ${pid}`);
  let output = "";
  let all = "";
  child.stdout?.on("data", (chunk) => (output = (output + String(chunk)).slice(-outputCharsMax)));
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => (all = (all + String(chunk)).slice(-shownCharsMax)));
  const ending = await new Promise<string | number>((resolve) => {
    child.once("error", (error) => resolve(error.message));
    child.once("close", (code, signal) => resolve(code ?? signal ?? "no exit code"));
  });
  if (pid !== undefined) removeWill(`group ${pid}`);
  if (ending === 0) return output;
  throw new Error(`${file} ${args.slice(0, 3).join(" ")} failed (${ending}): ${all.trim()}`);
}

/** Tries again, since a network may fail for a moment. */
export async function runWithPatience(
  file: string,
  args: readonly string[],
  options: Run = {},
): Promise<string> {
  for (let tries = 1; ; tries++) {
    try {
      return await run(file, args, options);
    } catch (error) {
      if (tries === triesMax) throw error;
      await sleep(pauseMs * tries);
    }
  }
}

/** Returns the file that the shell would run for `name`. */
export function onPath(name: string): string | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  return folders
    .map((folder) => join(folder, name))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** HostLacks names programs that are not installed. Other failures may pass. */
export class HostLacks extends Error {
  constructor(missing: readonly string[]) {
    super(`this host has no ${missing.join(" and no ")}`);
  }
}

/** Throws HostLacks when a tool is not on the PATH. */
export function needTools(...tools: readonly string[]): void {
  const missing = tools.filter((tool) => onPath(tool) === undefined);
  if (missing.length > 0) throw new HostLacks(missing);
}
