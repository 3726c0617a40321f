/** Options that take a value. Each states its meaning, its default and an example (docs/cli.md). */
import { type Command } from "commander";

export type About = {
  /** The meaning, with its unit. */
  readonly about: string;
  readonly fallback?: string;
  readonly example: string;
};

/** Collects a repeatable option. A variadic option would swallow arguments. */
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

const quoted = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text}'`);
