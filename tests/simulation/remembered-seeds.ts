/** A bug that this many histories do not show would go unnoticed in the fixed seeds, too. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { historiesOf } from "./histories.ts";
import { type Mutation } from "./mutate.ts";
import { mutations } from "./mutations.ts";

/** A bug that this many histories do not show would hide in the fixed seeds, too. */
const seedsMax = 60;
const seedsMaxRare = 200;

const seedsFile = join(import.meta.dirname, "remembered-seeds.json");

const remembered = new Map(
  Object.entries(JSON.parse(readFileSync(seedsFile, "utf8")) as Record<string, number>),
);

/** Returns the seed of a history that shows the bug, the remembered one first; undefined when no history does. */
export async function seedThatShows(mutation: Mutation): Promise<number | undefined> {
  const history = historiesOf(mutation);
  const first = remembered.get(mutation.name) ?? 1;
  for (const seed of [first, ...seedsFor(mutation)])
    if ((await history({ seed, mutation })).violations.length > 0) return seed;
  return undefined;
}

const seedsFor = ({ isRare }: Mutation): readonly number[] =>
  Array.from({ length: isRare ? seedsMaxRare : seedsMax }, (_, n) => n + 1);

export async function rememberSeeds(): Promise<void> {
  const seeds: [string, number][] = [];
  for (const mutation of mutations) {
    const seed = await shortestThatShows(mutation);
    if (seed === undefined) throw new Error(`no history shows "${mutation.name}"`);
    seeds.push([mutation.name, seed]);
  }
  seeds.sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(seedsFile, `${JSON.stringify(Object.fromEntries(seeds), null, 2)}\n`);
}

/** Plays each history no further than the shortest so far that shows the bug. */
async function shortestThatShows(mutation: Mutation): Promise<number | undefined> {
  const history = historiesOf(mutation);
  let endsAtStep = Infinity;
  let shortest: number | undefined;
  for (const seed of seedsFor(mutation)) {
    const { steps, violations } = await history({ seed, mutation, endsAtStep });
    if (violations.length === 0) continue;
    endsAtStep = steps;
    shortest = seed;
  }
  return shortest;
}
