/** The value sets of the last release and its chart's identities, under `deploy/checks/released`. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../root.ts";
import { type Identities, identitiesOf } from "./identity.ts";
import { chart, render, valueSets } from "./manifests.ts";

const folder = join(root, "deploy/checks/released");
const identities = join(folder, "identities.json");

export const releasedSets = readdirSync(join(folder, "values")).map((file) =>
  file.replace("-values.yaml", ""),
);
export const releasedFile = (valueSet: string): string =>
  join(folder, "values", `${valueSet}-values.yaml`);

export const releasedIdentities = (): Readonly<Record<string, Identities>> =>
  JSON.parse(readFileSync(identities, "utf8")) as Record<string, Identities>;

/** Records the current chart as the last release. */
async function keepRelease(): Promise<void> {
  const made: Record<string, Identities> = {};
  for (const valueSet of valueSets) made[valueSet] = identitiesOf(await render(valueSet));
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  cpSync(join(chart, "ci"), join(folder, "values"), { recursive: true });
  writeFileSync(identities, `${JSON.stringify(made, undefined, 2)}\n`);
}

if (import.meta.main) await keepRelease();
