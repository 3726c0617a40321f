/** Runs the seeder in a process of its own, so that its memory and caches are not measured. */
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startPosthaste } from "../systems/posthaste.ts";

export type Seeding = {
  readonly what: "finished" | "lists" | "runs";
  readonly dataPath: string;
  readonly count: number;
  readonly withinMs: number;
};

export async function seedFolder({ what, dataPath, count, withinMs }: Seeding): Promise<number> {
  // The first start makes the tenant that owns them.
  await (await startPosthaste({ dataPath })).stop();
  const script = fileURLToPath(new URL(`./seed-${what}.ts`, import.meta.url));
  const quiet = "--disable-warning=ExperimentalWarning";
  const seconds = String(withinMs / 1000);
  const args = [quiet, script, dataPath, String(count), seconds];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout.trim());
}
