/** `npm run bench -- [scenario …] [--rounds n] [--finished n] [--profile] [--before folder] [--keep]` */
import { resolve } from "node:path";
import { parseArgs } from "node:util";

export type BenchArguments = {
  /** Empty runs all. */
  readonly scenarios: readonly string[];
  /** The rounds to play, however long that takes. Undefined: as many of five as fit. */
  readonly rounds?: number;
  /** The finished messages to make for `growth` and `lists`, however long that takes. Undefined: as many as fit. */
  readonly finished?: number;
  readonly profile: boolean;
  /** Writes the figures of each scenario into bench/asked, which the report links. */
  readonly keep: boolean;
  /** A checkout of an earlier commit, ready to run, which alternates with this one in `apart`. */
  readonly before?: string;
};

const roundsMax = 100;
const finishedMax = 100_000_000;

export function parseArguments(args: readonly string[], known: readonly string[]): BenchArguments {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      rounds: { type: "string" },
      finished: { type: "string" },
      profile: { type: "boolean" },
      before: { type: "string" },
      keep: { type: "boolean" },
    },
  });
  for (const name of positionals) {
    if (!known.includes(name)) throw new Error(`no scenario ${name}: ${known.join(", ")}`);
  }
  const rounds = whole("rounds", values.rounds, roundsMax);
  const finished = whole("finished", values.finished, finishedMax);
  return {
    scenarios: positionals,
    ...(rounds === undefined ? {} : { rounds }),
    ...(finished === undefined ? {} : { finished }),
    profile: values.profile ?? false,
    keep: values.keep ?? false,
    ...(values.before === undefined ? {} : { before: resolve(values.before) }),
  };
}

/** Returns the options that change how much is measured, each with a space before it. */
export const optionsOf = ({ finished, rounds }: BenchArguments): string =>
  Object.entries({ finished, rounds })
    .map(([name, value]) => (value === undefined ? "" : ` --${name} ${value}`))
    .join("");

function whole(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw new Error(`--${name} takes a whole number from 1 to ${max}`);
}
