/** Runs the seeder in a process of its own: its memory and its caches are not those of what is measured. */
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

/** Answers how many finished messages or runs there are. */
export async function seedFolder({ what, dataPath, count, withinMs }: Seeding): Promise<number> {
  // Its first start makes the tenant that they belong to.
  await (await startPosthaste({ dataPath })).stop();
  const script = fileURLToPath(new URL(`./seed-${what}.ts`, import.meta.url));
  const quiet = "--disable-warning=ExperimentalWarning";
  const seconds = String(withinMs / 1000);
  const args = [quiet, script, dataPath, String(count), seconds];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout.trim());
}
