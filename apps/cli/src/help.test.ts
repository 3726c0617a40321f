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

it("is there for many", () => {
  expect(valued.length).toBeGreaterThan(150);
});

it.each(valued.map(([words, option]) => [`${words} ${option.long}`, option] as const))(
  "%s says what it means, what holds without it, and an example that is taken",
  (_, { description, long, optional }) => {
    expect(description).toMatch(/^\S.*\. Default: \S.*\. Example: --/);
    const [, example = ""] = description.split("Example: ");
    expect(example.split(" ")[0]).toBe(long);
    expect(example.includes(" ")).toBe(!optional || example.includes(" "));
  },
);

it.each(options.filter(([, { optional, required }]) => !required && !optional))(
  "%s: an option without a value says what it does",
  (_, { description }) => {
    expect(description).toMatch(/\S/);
  },
);
