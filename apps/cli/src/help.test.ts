import { Readable } from "node:stream";
import { expect, it } from "@jest/globals";
import { type Command } from "commander";
import { programOf } from "./run.ts";

const silent = { write: () => undefined };
const host = {
  ...{ env: {}, out: silent, err: silent },
  ...{ stdin: Readable.from([]), interrupted: new AbortController().signal },
};
const program = programOf(host, () => () => Promise.resolve());

const all = (command: Command, words: readonly string[] = []): readonly [string, Command][] => {
  const own = [...words, command.name()];
  return [[own.join(" "), command], ...command.commands.flatMap((each) => all(each, own))];
};
const options = all(program).flatMap(([words, command]) =>
  command.options.map((option) => [words, option] as const),
);
const valued = options.filter(([, { optional, required }]) => required || optional);

it("more than 150 options take a value", () => {
  expect(valued.length).toBeGreaterThan(150);
});

it.each(valued.map(([words, option]) => [`${words} ${option.long}`, option] as const))(
  "%s has a help with its meaning, its default and a valid example",
  (_, { description, long, optional }) => {
    expect(description).toMatch(/^\S.*\. Default: \S.*\. Example: --/);
    const [, example = ""] = description.split("Example: ");
    expect(example.split(" ")[0]).toBe(long);
    expect(example.includes(" ")).toBe(!optional || example.includes(" "));
  },
);

it.each(options.filter(([, { optional, required }]) => !required && !optional))(
  "%s has a help, as an option without a value",
  (_, { description }) => {
    expect(description).toMatch(/\S/);
  },
);
