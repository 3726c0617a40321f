/** Runs the standalone as a user would, on a data folder of its own. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "@posthaste/local";
import { dataFolder, repository } from "../folders.ts";
import { Child, keepCode } from "./child.ts";
import { answersOk, type StartOptions, type System } from "./system.ts";

export type PosthasteOptions = StartOptions & {
  /** A data folder that its owner keeps. Default: a new one, removed with the system. */
  readonly dataPath?: string;
  /** The checkout to run. Default: this one. */
  readonly root?: string;
  /** Settings that differ from their defaults. */
  readonly env?: Readonly<Record<string, string>>;
};

const startMsMax = 30_000;

export async function startPosthaste(options: PosthasteOptions = {}): Promise<System> {
  const data = options.dataPath === undefined ? dataFolder() : undefined;
  const port = await freePort();
  const child = new Child({
    name: "posthaste",
    file: process.execPath,
    args: [
      "--disable-warning=ExperimentalWarning",
      // As in `npm start`.
      "--max-semi-space-size=16",
      keepCode,
      ...profiling(options.profilePath),
      join(options.root ?? repository, "services/standalone/process/main.ts"),
    ],
    env: {
      POSTHASTE_PROFILE: "dev",
      POSTHASTE_HOST: "127.0.0.1",
      POSTHASTE_PORT: String(port),
      POSTHASTE_DATA_DIR: options.dataPath ?? data?.path ?? "",
      POSTHASTE_LOG_LEVEL: "warn",
      POSTHASTE_CATCHER: "off",
      ...options.env,
    },
  });
  const stop = async () => {
    await child.stop();
    data?.remove();
  };
  try {
    await child.ready(() => answersOk(`http://127.0.0.1:${port}/readyz`), startMsMax);
  } catch (error) {
    data?.remove();
    throw error;
  }
  const name = options.root === undefined ? "posthaste" : "posthaste, before";
  return { name, port, pids: [child.pid], stop, output: () => child.output };
}

export function profiling(path: string | undefined): readonly string[] {
  if (path === undefined) return [];
  mkdirSync(path, { recursive: true });
  return ["--cpu-prof", `--cpu-prof-dir=${path}`];
}
