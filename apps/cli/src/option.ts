/** Options that take a value: each says what it means, what holds without it, and an example (docs/cli.md). */
import { type Command } from "commander";

export type About = {
  /** With its unit. */
  readonly about: string;
  /** The value that holds without the option. */
  readonly fallback?: string;
  readonly example: string;
};

/** An option that may be given again: one that took all words up to the next would take arguments, too. */
const collected = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
];

export type Given = "once" | "again";

export function withValue(
  command: Command,
  flags: string,
  about: About,
  given: Given = "once",
): Command {
  const text = textOf(flags, about);
  return given === "again" ? command.option(flags, text, collected) : command.option(flags, text);
}

/** An option whose value is `fallback` where it is not given. */
export const withDefault = (
  command: Command,
  flags: string,
  about: About & { readonly fallback: string },
): Command => command.option(flags, textOf(flags, about), about.fallback);

function textOf(flags: string, { about, example, fallback = "none" }: About): string {
  const long = /--[a-z-]+/.exec(flags)?.[0] ?? flags;
  const sentence = about.replace(/\.$/, "");
  return `${sentence}. Default: ${fallback}. Example: ${long} ${quoted(example)}`;
}

/** As a shell takes it. */
const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text}'`);
