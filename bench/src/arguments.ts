/** `npm run bench -- [scenario …] [--rounds n] [--profile]` */
import { parseArgs } from "node:util";

export type BenchArguments = {
  /** Empty: all. */
  readonly scenarios: readonly string[];
  readonly rounds: number;
  readonly profile: boolean;
};

const roundsDefault = 5;
const roundsMax = 100;

export function parseArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { rounds: { type: "string" }, profile: { type: "boolean" } },
  });
  for (const name of positionals) {
    if (!known.includes(name)) throw new Error(`no scenario ${name}: ${known.join(", ")}`);
  }
  const rounds = Number(values.rounds ?? roundsDefault);
  if (!Number.isInteger(rounds) || rounds < 1 || rounds > roundsMax) {
    throw new Error(`--rounds takes a whole number from 1 to ${roundsMax}`);
  }
  return { scenarios: positionals, rounds, profile: values.profile ?? false };
}
