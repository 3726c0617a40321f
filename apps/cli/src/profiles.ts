/** Stores profiles in a file that only its owner can read. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CliError, fileFault } from "./exit.ts";
import { type Environment } from "./variables.ts";

export type Profile = { readonly url: string; readonly token: string };
export type Profiles = {
  /** The profile used if none is named. */
  readonly current?: string;
  readonly profiles: Readonly<Record<string, Profile>>;
};

export const profilesFile = (env: Environment): string =>
  join(env.XDG_CONFIG_HOME || join(env.HOME ?? ".", ".config"), "posthaste/profiles.json");

export function readProfiles(env: Environment): Profiles {
  const file = profilesFile(env);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { profiles: {} };
    throw fileFault("usage", `${file} cannot be read`, error);
  }
  const read = parsed(text);
  if (!isProfiles(read))
    throw new CliError("usage", `${file} is not a file of profiles: remove it`);
  return read;
}

export function writeProfiles(env: Environment, profiles: Profiles): void {
  const file = profilesFile(env);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // Writes beside the file and renames: an existing file would keep its old mode.
    const beside = `${file}.${process.pid}`;
    writeFileSync(beside, `${JSON.stringify(profiles, undefined, 2)}\n`, { mode: 0o600 });
    renameSync(beside, file);
  } catch (error) {
    throw fileFault("failed", `${file} cannot be written`, error);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null;

const isProfile = (value: unknown): value is Profile =>
  isObject(value) && typeof value["url"] === "string" && typeof value["token"] === "string";

const isProfiles = (value: unknown): value is Profiles =>
  isObject(value) &&
  isObject(value["profiles"]) &&
  Object.values(value["profiles"]).every(isProfile) &&
  (value["current"] === undefined || typeof value["current"] === "string");
