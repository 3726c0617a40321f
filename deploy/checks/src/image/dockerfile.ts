/** Parses deploy/Dockerfile into instructions by stage. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Texts } from "../environment.ts";
import { root } from "../root.ts";

type Instruction = { readonly keyword: string; readonly text: string };
export type Stage = readonly Instruction[];

export const readDockerfile = (): readonly Stage[] =>
  parseDockerfile(readFileSync(join(root, "deploy/Dockerfile"), "utf8"));

export function parseDockerfile(text: string): readonly Stage[] {
  const lines = text.split("\n").filter((line) => !line.trimStart().startsWith("#"));
  const stages: Instruction[][] = [];
  for (const line of lines
    .join("\n")
    .replaceAll(/\\\n\s*/g, "")
    .split("\n")) {
    const [, keyword, rest] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (keyword === undefined || rest === undefined) continue;
    if (keyword === "FROM") stages.push([]);
    stages.at(-1)?.push({ keyword, text: rest.trim() });
  }
  return stages;
}

/** Returns the stage that becomes the image. */
export function lastStage(stages: readonly Stage[]): Stage {
  const last = stages.at(-1);
  if (!last) throw new Error("a Dockerfile has a FROM");
  return last;
}

export function stageNamed(stages: readonly Stage[], name: string): Stage {
  const found = stages.find(([from]) => from?.text.endsWith(` AS ${name}`));
  if (!found) throw new Error(`no stage ${name}`);
  return found;
}

export const textsOf = (stage: Stage, keyword: string): readonly string[] =>
  stage.filter((instruction) => instruction.keyword === keyword).map(({ text }) => text);

/** Parses `ENV a=b c=d`. Values have no quotes and no spaces. */
export function environmentOf(stage: Stage): Texts {
  const pairs = textsOf(stage, "ENV").flatMap((text) => text.split(/\s+/));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]),
  );
}

/** Parses `["a", "b"]`, or `CMD ["a", "b"]` after options. Throws for the shell form. */
export function execForm(text: string): readonly string[] {
  const words: unknown = JSON.parse(text.slice(text.indexOf("[")));
  if (!Array.isArray(words) || !words.every((word) => typeof word === "string"))
    throw new Error(`not the exec form: ${text}`);
  return words;
}
