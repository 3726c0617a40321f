import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type CpuProfile } from "./self-time.ts";

export function readProfiles(folder: string): readonly CpuProfile[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith(".cpuprofile"))
    .map((name) => {
      const profile: unknown = JSON.parse(readFileSync(join(folder, name), "utf8"));
      if (!isProfile(profile)) throw new Error(`${name} is not a CPU profile`);
      return profile;
    });
}

const isProfile = (value: unknown): value is CpuProfile =>
  typeof value === "object" &&
  value !== null &&
  "nodes" in value &&
  "samples" in value &&
  "timeDeltas" in value;
