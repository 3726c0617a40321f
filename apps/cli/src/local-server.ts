/** The functions shared by commands that run a server on this host, or read its data folder. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { CliError } from "./exit.ts";
import { type About } from "./option.ts";

/** Leaves the two ports after it free, which the server uses as well. */
const portMax = 65_533;
const consoleFolders = ["console", "../../console/dist"].map((folder) =>
  join(import.meta.dirname, folder),
);

/** Returns the port that `--port` names. Throws for a number that is not a port. */
export function portIn(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port < 1 || port > portMax)
    throw new CliError("usage", `--port: must be a number from 1 to ${portMax}`);
  return port;
}

/** Returns the folder of the built console, in the package or in the repository, or `off` if there is none. */
export const consoleFolder = (): string =>
  consoleFolders.find((folder) => existsSync(folder)) ?? "off";

export const aboutData: About = {
  ...{ about: "The folder in which the server keeps messages and secrets" },
  ...{ fallback: "POSTHASTE_DATA_DIR, or .posthaste", example: "/var/lib/posthaste" },
};

export function dataFolder(option: string | undefined): string {
  if (option === "") throw new CliError("usage", "--data: must not be empty");
  return option ?? serverEnv()["POSTHASTE_DATA_DIR"] ?? ".posthaste";
}

/** Returns the environment of this process, which configures a server. Removes empty variables, since they count as not set. */
export function serverEnv(): NodeJS.ProcessEnv {
  const { env } = process;
  for (const [name, value] of Object.entries(env))
    if (value === "" && name.startsWith("POSTHASTE_")) delete env[name];
  return env;
}

export function orFail<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new CliError("failed", Error.isError(error) ? error.message : String(error));
  }
}
