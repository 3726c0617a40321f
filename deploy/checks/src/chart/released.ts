/** The value sets of the last release and its chart's identities, under `deploy/checks/released`. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { identitiesOf } from "./identity.ts";
import { chart, render, valueSets } from "./manifests.ts";

const folder = join(root, "deploy/checks/released");
const identities = join(folder, "identities.txt");

export const releasedSets = readdirSync(join(folder, "values")).map((file) =>
  file.replace("-values.yaml", ""),
);
export const releasedFile = (valueSet: string): string =>
  join(folder, "values", `${valueSet}-values.yaml`);

/** Returns the lines of one set; the file has the set in front of each line. */
export function releasedIdentities(valueSet: string): string[] {
  const lines = readFileSync(identities, "utf8").split("\n");
  const own = lines.filter((line) => line.startsWith(`${valueSet} `));
  if (own.length === 0) throw new Error(`${identities} has nothing of ${valueSet}`);
  return own.map((line) => line.slice(valueSet.length + 1));
}

/** Records the current chart as the last release. */
async function keepRelease(): Promise<void> {
  const lines: string[] = [];
  for (const valueSet of valueSets)
    for (const line of identitiesOf(await render(valueSet))) lines.push(`${valueSet} ${line}\n`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  cpSync(join(chart, "ci"), join(folder, "values"), { recursive: true });
  writeFileSync(identities, lines.join(""));
}

if (import.meta.main) await keepRelease();
